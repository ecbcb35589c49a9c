// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"strconv"
	"testing"
	"time"
)

func at(s int) time.Time { return epoch.Add(time.Duration(s) * time.Second) }

var epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestBeats(t *testing.T) {
	var b beats
	if b.age(at(0)) != 0 {
		t.Error("something is unseen before the first write")
	}
	b.ack(sent{at: at(0), acked: at(1), rv: "10"})
	b.ack(sent{at: at(60), acked: at(61), rv: "20"})
	if got := b.age(at(61)); got != time.Minute {
		t.Errorf("the oldest is %v old", got)
	}
	if trips := b.see(at(62), "9"); len(trips) > 0 {
		t.Errorf("an older event ends %v", trips)
	}
	if trips := b.see(at(63), "10"); len(trips) != 1 || trips[0] != 63*time.Second {
		t.Errorf("round trips %v", trips)
	}
	if got := b.age(at(71)); got != 10*time.Second {
		t.Errorf("the oldest is %v old", got)
	}
	b.postpone(4 * time.Second)
	if got := b.age(at(71)); got != 6*time.Second {
		t.Errorf("after a pause the oldest is %v old", got)
	}
	if trips := b.see(at(80), "99"); len(trips) != 1 || b.age(at(90)) != 0 {
		t.Errorf("a later event leaves %v", b.unseen)
	}
	// The event may be here before the answer to the write.
	if trip, back := b.ack(sent{at: at(79), acked: at(81), rv: "98"}); !back || trip != time.Second {
		t.Errorf("round trip %v, %v", trip, back)
	}
}

// The oldest counts, however many follow it.
func TestBeatsAreBounded(t *testing.T) {
	var b beats
	for i := range 10 * unseenAtMost {
		b.ack(sent{at: at(i), acked: at(i), rv: strconv.Itoa(100 + i)})
	}
	if len(b.unseen) != unseenAtMost || b.age(at(1000)) != 1000*time.Second {
		t.Errorf("%d, the oldest %v old", len(b.unseen), b.age(at(1000)))
	}
	if b.see(at(1000), strconv.Itoa(100+10*unseenAtMost)); len(b.unseen) > 0 {
		t.Errorf("%d are left", len(b.unseen))
	}
}

func TestReached(t *testing.T) {
	for _, tt := range []struct {
		have, want string
		reached    bool
	}{{"10", "9", true}, {"10", "10", true}, {"9", "10", false}, {"x", "x", true}, {"x", "y", false}, {"", "1", false}} {
		if got := reached(tt.have, tt.want); got != tt.reached {
			t.Errorf("%q reaches %q: %v", tt.have, tt.want, got)
		}
	}
}
