// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Rung is one cure. Cheaper rungs come first.
type Rung int

const (
	// Resume ends the watch so that the reflector watches again from the last
	// resourceVersion it saw: one request, nothing sent twice.
	Resume Rung = iota
	// Relist makes the reflector fetch everything again.
	Relist
	// List is Relist by LIST instead of WatchList, for a stream of initial
	// events that never ends.
	List
	// Reconnect has Options.Connections dial anew, and resumes. It comes last, unless
	// it seems to be the path, since it touches everything that the program does with
	// its connections.
	Reconnect
)

var rungNames = [...]string{"resume", "relist", "list", "reconnect"}

// String returns the rung's name as used in metrics and logs.
func (r Rung) String() string {
	if r < 0 || int(r) >= len(rungNames) {
		return fmt.Sprintf("Rung(%d)", int(r))
	}
	return rungNames[r]
}

// resumes tells whether the reflector goes on from where it was, by a short watch
// that proves the cure.
func (r Rung) resumes() bool { return r == Resume || r == Reconnect }

// MarshalText implements encoding.TextMarshaler.
func (r Rung) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

const (
	// verifyTimeout is the timeoutSeconds of a watch that has to prove a cure:
	// its bookmark comes 2 s before that.
	verifyTimeout = 5 * time.Second
	// verifySlack is what a bookmark, an end of stream or an answer may be late
	// before it counts as missing.
	verifySlack = 1500 * time.Millisecond
	// relistPatience is how long a relist may take to show its first effect: the
	// reflector's back-off is up to 2 s after a single failure.
	relistPatience = 20 * time.Second
	// dialTime is what a new connection may take.
	dialTime = 5 * time.Second
)

// ladder holds where an informer is on the rungs.
type ladder struct {
	tried   int          // cures tried since the doubt arose
	backoff wait.Backoff // pause after each full round
	next    time.Time    // no cure before this
}

func newLadder() ladder {
	return ladder{backoff: wait.Backoff{Duration: 30 * time.Second, Factor: 2, Steps: 6, Cap: 5 * time.Minute, Jitter: 0.1}}
}

// climb returns the next cure, if one is due. rungs are those allowed for this
// doubt, cheapest first; after the dearest has failed, the round begins anew
// once the back-off has passed.
func (l *ladder) climb(now time.Time, rungs []Rung) (Rung, bool) {
	if len(rungs) == 0 || now.Before(l.next) {
		return 0, false
	}
	r := rungs[l.tried%len(rungs)]
	l.tried++
	if l.tried%len(rungs) == 0 {
		l.next = now.Add(patience(r) + l.backoff.Step())
	}
	return r, true
}

// patience is how long a cure has to show that it worked.
func patience(r Rung) time.Duration {
	switch r {
	case Resume:
		return verifyTimeout + verifySlack
	case Reconnect:
		return verifyTimeout + verifySlack + dialTime
	default:
		return relistPatience
	}
}
