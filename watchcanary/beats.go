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
	unseen []sent    // the oldest first
	acked  string    // resourceVersion of the newest acknowledged write
	newest string    // and of the newest event
	came   time.Time // when that came
	back   time.Time // when the newest write that has come back was sent
}

// ack notes that the API server has a write, and returns its round trip, if its event
// was here before. A write whose resourceVersion is before that of an earlier one shows
// that the datastore was restored: nothing that was seen before counts.
func (b *beats) ack(s sent) (trip time.Duration, back bool) {
	if b.acked != "" && !reached(s.rv, b.acked) && ordered(s.rv) {
		b.unseen, b.newest = nil, ""
	}
	b.acked = s.rv
	if b.newest != "" && reached(b.newest, s.rv) {
		b.back = s.at
		return max(0, b.came.Sub(s.at)), true
	}
	if len(b.unseen) == unseenAtMost {
		b.unseen = append(b.unseen[:1], b.unseen[2:]...)
	}
	b.unseen = append(b.unseen, s)
	return 0, false
}

// see notes an event, and returns the round trips that have ended with it: a write's
// own event, or a later one.
func (b *beats) see(now time.Time, rv string) (trips []time.Duration) {
	if b.newest == "" || reached(rv, b.newest) || !ordered(rv) {
		b.newest, b.came = rv, now
	}
	n := len(b.unseen)
	for n > 0 && !reached(rv, b.unseen[n-1].rv) {
		n--
	}
	for _, s := range b.unseen[:n] {
		b.back = s.at
		trips = append(trips, max(0, now.Sub(s.at)))
	}
	b.unseen = b.unseen[n:]
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

// ordered tells whether rv can be told to be before or after another.
func ordered(rv string) bool {
	_, err := resourceversion.CompareResourceVersion(rv, rv)
	return err == nil
}
