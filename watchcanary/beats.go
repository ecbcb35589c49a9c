// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// unseenAtMost bounds how many writes that have not come back are remembered: the
// oldest one counts, and any later event shows that all of them have.
const unseenAtMost = 64

// sent is an acknowledged write.
type sent struct {
	at, acked time.Time
	rv        string
}

// beats are the writes that have not come back, and the newest event that has come.
// It takes the time as an argument.
type beats struct {
	unseen []sent // the oldest first
	newest string // resourceVersion of the newest event
	came   time.Time
}

// ack notes that the API server has a write, and returns its round trip, if its event
// was here before.
func (b *beats) ack(s sent) (trip time.Duration, back bool) {
	if b.newest != "" && reached(b.newest, s.rv) {
		return max(0, b.came.Sub(s.at)), true
	}
	if len(b.unseen) == unseenAtMost {
		b.unseen = append(b.unseen[:1], b.unseen[2:]...)
	}
	b.unseen = append(b.unseen, s)
	return 0, false
}

// see notes an event, and returns the round trips that have ended with it.
func (b *beats) see(now time.Time, rv string) (trips []time.Duration) {
	if b.newest == "" || reached(rv, b.newest) {
		b.newest, b.came = rv, now
	}
	for len(b.unseen) > 0 && reached(rv, b.unseen[0].rv) {
		trips = append(trips, max(0, now.Sub(b.unseen[0].at)))
		b.unseen = b.unseen[1:]
	}
	return trips
}

// age is for how long the oldest write has not come back; zero: all have.
func (b *beats) age(now time.Time) time.Duration {
	if len(b.unseen) == 0 {
		return 0
	}
	return max(1, now.Sub(b.unseen[0].acked))
}

// postpone moves everything by a time in which this process did not run: what has come
// meanwhile waits in the kernel's buffers.
func (b *beats) postpone(d time.Duration) {
	for i := range b.unseen {
		b.unseen[i].acked = b.unseen[i].acked.Add(d)
	}
}

// reached tells whether an event at have is one at or after want. resourceVersions that
// do not compare have to be equal.
func reached(have, want string) bool {
	c, err := resourceversion.CompareResourceVersion(have, want)
	if err != nil {
		return have == want
	}
	return c >= 0
}
