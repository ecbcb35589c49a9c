// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// fill adds something at a time after noon.
func fill(p *pending, after time.Duration, reasons ...Reason) {
	for _, r := range reasons {
		now := noon.Add(after)
		p.add(now, newNote(r, now, "a", "text"))
	}
}

func newTestPending(now time.Time) (*pending, *clocktesting.FakeClock) {
	c := clocktesting.NewFakeClock(now)
	return newPending(c), c
}

func TestPendingGathers(t *testing.T) {
	p, _ := newTestPending(noon)
	fill(p, 0, InformerStalled)
	fill(p, gather-1, InformerStalled)
	if n, due := p.next(noon.Add(gather - 1)); due {
		t.Errorf("at %v %+v", gather-1, n)
	}
	n, due := p.next(noon.Add(gather))
	if !due || n.count != 2 || n.reason != InformerStalled {
		t.Errorf("%v, %+v", due, n)
	}
	if n, due := p.next(noon.Add(time.Hour)); due {
		t.Errorf("again: %+v", n)
	}
}

func TestPendingRepeats(t *testing.T) {
	p, _ := newTestPending(noon)
	fill(p, 0, InformerStalled)
	if _, due := p.next(noon.Add(gather)); !due {
		t.Fatal("nothing is due")
	}
	fill(p, gather, InformerStalled, InformerHealed)
	if n, due := p.next(noon.Add(2 * gather)); !due || n.reason != InformerHealed {
		t.Errorf("another reason does not wait: %v, %+v", due, n)
	}
	if n, due := p.next(noon.Add(gather + repeat - 1)); due {
		t.Errorf("at one nanosecond less %+v", n)
	}
	if n, due := p.next(noon.Add(gather + repeat)); !due || n.reason != InformerStalled {
		t.Errorf("%v, %+v", due, n)
	}
}

// Whatever happens, and however often, at most burst Events are written at once, and one
// a minute after that; each reason has its turn, and nothing is lost.
func TestPendingIsLimited(t *testing.T) {
	p, c := newTestPending(noon)
	var wrote, told int
	of := map[Reason]int{}
	const minutes = 120
	for s := range minutes * 60 {
		now := noon.Add(time.Duration(s) * time.Second)
		c.SetTime(now)
		for r := range Reason(len(reasonNames)) {
			fill(p, now.Sub(noon), r)
			told++
		}
		for n, due := p.next(now); due; n, due = p.next(now) {
			wrote++
			of[n.reason]++
			told -= n.count
		}
		if most := burst + s/60; wrote > most {
			t.Fatalf("after %ds %d, want at most %d", s, wrote, most)
		}
	}
	if wrote < burst+minutes-2 {
		t.Errorf("%d were written, want as many as may be", wrote)
	}
	for r := range Reason(len(reasonNames)) {
		if n := of[r]; n < minutes/len(reasonNames)-1 {
			t.Errorf("%v was written %d times of %d", r, n, wrote)
		}
	}
	for n, left := p.rest(noon); left; n, left = p.rest(noon) {
		told -= n.count
	}
	if told != 0 {
		t.Errorf("%d of what happened is lost", told)
	}
}

func TestPendingWithdraw(t *testing.T) {
	p, _ := newTestPending(noon)
	fill(p, 0, CanaryBlind)
	if !p.withdraw(CanaryBlind) || p.withdraw(CanaryBlind) {
		t.Error("it can be withdrawn once")
	}
	if n, due := p.next(noon.Add(time.Hour)); due {
		t.Errorf("%+v", n)
	}
}
