// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// proof is a question put to the informer: at time at, before asking, the API
// server was read at resourceVersion rv; once the store has reached rv, the
// cache holds every change committed before at.
type proof struct {
	at       time.Time
	rv       string
	due      time.Time // overdue after this
	limit    time.Time // due is never after this, however often the stream is renewed
	stream   uint64    // the stream whose bookmark is waited for
	answered time.Time // when rv came
	arrived  window    // when the stream brought it; zero: not yet
	renewed  bool      // a watch was renewed to bring it
	// elsewhere: read over another connection than the stream's, so perhaps from
	// another API server, whose watch cache is not the one that had to catch up.
	elsewhere bool
}

// longestProof bounds how long a proof may wait whatever the phase: one
// bookmark period, and slack.
const longestProof = bookmarkLatest + verifySlack

// newProof dates a proof whose answer came at answered, and which has to be
// reached within wait at the latest.
func newProof(at, answered time.Time, rv string, p phase, stream uint64, wait time.Duration) *proof {
	pr := &proof{at: at, rv: rv, answered: answered, limit: answered.Add(wait)}
	pr.await(answered, p, stream)
	return pr
}

// await makes the proof due at the first bookmark that the API server sends on
// stream after now.
func (pr *proof) await(now time.Time, p phase, stream uint64) {
	p, _ = p.roll(now) // past the windows of a time in which this process did not run
	w := p.next()
	if now.After(w.from) {
		p.last, p.seen = w, window{}
		w = p.next()
	}
	pr.stream, pr.due = stream, w.to.Add(verifySlack)
	if pr.due.After(pr.limit) {
		pr.due = pr.limit
	}
}

// cacheWait is how long kube-apiserver lets a consistent read wait for its watch
// cache, before it reads the datastore instead (3 s in apiserver 0.37), and a little
// less.
const cacheWait = 2800 * time.Millisecond

// cached tells whether the watch cache had reached rv when the answer came, so that
// every bookmark since must carry it.
func (pr *proof) cached() bool { return pr.answered.Sub(pr.at) < cacheWait }

// capped tells whether the proof falls due before its bookmark can be expected,
// since the stream was renewed meanwhile. Missing such a due says nothing about
// the stream.
func (pr *proof) capped() bool { return !pr.due.Before(pr.limit) }

// hasten makes the proof due at limit at the latest.
func (pr *proof) hasten(limit time.Time) {
	if pr.limit.After(limit) {
		pr.limit = limit
	}
	if pr.due.After(pr.limit) {
		pr.due = pr.limit
	}
}

// postpone moves the proof by the time in which this process did not run.
func (pr *proof) postpone(d time.Duration) {
	pr.due, pr.limit = pr.due.Add(d), pr.limit.Add(d)
}

// lead is how long before the bookmark's window a read is sent, given what
// reads have taken lately: it must have ended when the window opens, though it
// may be a tick late in leaving, and not be older than it need be.
func lead(latency time.Duration) time.Duration {
	return min(tick+300*time.Millisecond+2*latency, 10*time.Second)
}

// reached tells whether a store or stream at have holds everything up to want.
// resourceVersions that do not compare have reached nothing.
func reached(have, want string) bool {
	c, err := resourceversion.CompareResourceVersion(have, want)
	return err == nil && c >= 0
}

// comparableRV tells whether rv can take part in a proof.
func comparableRV(rv string) bool {
	_, err := resourceversion.CompareResourceVersion(rv, rv)
	return err == nil
}
