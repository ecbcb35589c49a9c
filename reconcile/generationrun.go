// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

// generationTick is how often it is looked whether a read is due, and whether this
// process has been stopped meanwhile.
const generationTick = time.Second

// generationRun is what is known since Start. The lock guards all of it but the books'
// known generations, which a read under way reads, and only its result replaces.
type generationRun struct {
	kinds       []*generationKind
	reading     bool
	looked      time.Time
	propagation *prometheus.HistogramVec
}

// generationKind is what is known of a kind.
type generationKind struct {
	target   generationTarget
	gvr      schema.GroupVersionResource // a guess until the API server has told
	books    generationBooks
	due      time.Time // the next read
	lastRead time.Time
	reads    [len(generationResultNames)]uint64
	backoff  wait.Backoff
	result   generationResult
	err      error
	mapping  <-chan generationMapping // of the question that is under way; nil: none is
	bare     bool                     // no object has a generation
	toldBare bool
	told     map[types.UID]bool // the objects that a log line has counted
	lagged   time.Time          // since when some lag
}

// generationOutcome is what came of a read.
type generationOutcome struct {
	kind    *generationKind
	gvr     schema.GroupVersionResource
	reading generationReading
	err     error
}

// generationBackoff is for a kind that cannot be read. It never asks more often than for
// one that can: an API server that is overloaded is not helped by it.
func generationBackoff(interval time.Duration) wait.Backoff {
	return wait.Backoff{Duration: interval, Factor: 2, Steps: 3, Cap: 4 * interval, Jitter: 0.1}
}

// due returns the kind to be read now, if there is one and no other is being read.
func (g *Generations) due(r *generationRun) *generationKind {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.opts.Clock.Now()
	r.forgive(now)
	if r.reading {
		return nil
	}
	var next *generationKind
	for _, k := range r.kinds {
		if !k.due.After(now) && (next == nil || k.due.Before(next.due)) {
			next = k
		}
	}
	r.reading = next != nil
	return next
}

// take draws the conclusions from a read.
func (g *Generations) take(r *generationRun, out generationOutcome) {
	g.mu.Lock()
	now := g.opts.Clock.Now()
	r.forgive(now)
	r.reading = false
	k := out.kind
	k.gvr = out.gvr
	before := k.result
	k.err, k.result = out.err, generationResultOf(out.err)
	k.reads[k.result]++
	if out.err == nil {
		out.reading.ended = now // it may have waited to be taken
		k.backoff = generationBackoff(g.opts.Interval)
		k.due = now.Add(wait.Jitter(g.opts.Interval*9/10, 1.0/9))
		k.lastRead = now
		k.bare = out.reading.bare > 0 && out.reading.bare == len(out.reading.known)
		var took []time.Duration
		k.books, took = k.books.after(out.reading, g.opts.Limit)
		r.observe(k, took)
	} else {
		k.due = now.Add(k.backoff.Step())
	}
	lines := k.news(before, now)
	g.mu.Unlock()
	for _, l := range lines { // a sink that blocks must not block Collect
		g.opts.Logger.Info(l.text, l.keysAndValues...)
	}
}

// forgive moves what is counted by a time in which this process did not run.
func (r *generationRun) forgive(now time.Time) {
	if late := now.Sub(r.looked) - generationTick; late > generationTick {
		for _, k := range r.kinds {
			k.books.forgive(late)
		}
	}
	r.looked = now
}

func (r *generationRun) observe(k *generationKind, took []time.Duration) {
	h := r.propagation.WithLabelValues(k.labels()...)
	for _, d := range took {
		h.Observe(d.Seconds())
	}
}
