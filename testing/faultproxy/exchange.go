// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// exchange is one request with its response, from the first header to the last byte.
type exchange struct {
	*attributes
	id       uint64
	conn     *clientConn
	protocol string
	start    time.Time
	series   *series

	status       atomic.Int64
	up, down     atomic.Int64
	firstNano    atomic.Int64 // since start, plus 1
	lastNano     atomic.Int64
	endNano      atomic.Int64
	objects      atomic.Int64 // in a list's body
	initial      atomic.Int64 // ADDED events before the end of the initial events
	events       atomic.Int64
	bookmarks    atomic.Int64
	initialDone  atomic.Bool
	stripTimeout atomic.Bool // ask the API server for no timeout

	changed notifier

	mu       sync.Mutex
	rules    []*rule
	silenced bool
	faults   []string // what has hit it
}

type exchangeKey struct{}

func exchangeFrom(ctx context.Context) *exchange {
	ex, _ := ctx.Value(exchangeKey{}).(*exchange)
	return ex
}

// since is now as nanoseconds since the start, never 0.
func (ex *exchange) since() int64 { return int64(time.Since(ex.start)) + 1 }

func (ex *exchange) countUp(n int) {
	ex.up.Add(int64(n))
	ex.series.up.Add(int64(n))
}

func (ex *exchange) countDown(n int) {
	if n == 0 {
		return
	}
	now := ex.since()
	ex.firstNano.CompareAndSwap(0, now)
	ex.lastNano.Store(now)
	ex.down.Add(int64(n))
	ex.series.down.Add(int64(n))
}

func (ex *exchange) countObjects(n int) {
	ex.objects.Add(int64(n))
	ex.series.objects.Add(int64(n))
}

// countEvent counts a watch event that is about to be delivered.
func (ex *exchange) countEvent(pc *piece) {
	switch pc.kind {
	case string(watch.Bookmark):
		ex.bookmarks.Add(1)
		ex.series.bookmarks.Add(1)
		if pc.endsInitialEvents() {
			ex.initialDone.Store(true)
		}
		return
	case string(watch.Added):
		if ex.query.sendInitialEvents && !ex.initialDone.Load() {
			ex.initial.Add(1)
			ex.series.initial.Add(1)
			return
		}
	}
	ex.events.Add(1)
	ex.series.events.Add(1)
}

func (ex *exchange) setStatus(code int) {
	ex.status.Store(int64(code))
}

// attach puts a fault in force for this exchange.
func (ex *exchange) attach(r *rule) {
	ex.mu.Lock()
	ex.rules = append(ex.rules, r)
	ex.mu.Unlock()
	ex.changed.notify()
}

// active returns the faults in force, oldest first.
func (ex *exchange) active() []*rule {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	ex.rules = slices.DeleteFunc(ex.rules, func(r *rule) bool { return r.inj.over() })
	return slices.Clone(ex.rules)
}

// struck notes that a fault has acted on this exchange.
func (ex *exchange) struck(r *rule) {
	r.inj.hit()
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if !slices.Contains(ex.faults, r.inj.fault) {
		ex.faults = append(ex.faults, r.inj.fault)
	}
}

// silence kills the stream for good: nothing that the upstream sends reaches the client any more.
func (ex *exchange) silence() {
	ex.mu.Lock()
	ex.silenced = true
	ex.mu.Unlock()
	ex.changed.notify()
}

// plan is what the faults in force mean for the body at this moment.
func (ex *exchange) plan() plan {
	p := plan{changed: ex.changed.next()}
	rules := ex.active()
	ex.mu.Lock()
	p.silent = ex.silenced
	ex.mu.Unlock()
	for _, r := range rules {
		if f, ok := r.fault.(bodyFault); ok {
			f.plan(&p, ex, r)
		}
	}
	return p
}

// streaming reports whether the response is a stream of watch events.
func (ex *exchange) streaming(resp *http.Response) bool {
	return ex.verb == verbWatch && resp.StatusCode == http.StatusOK
}
