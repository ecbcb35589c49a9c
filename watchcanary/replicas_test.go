// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/freshwatch/freshwatch/watchcanary"
)

func TestTwoOperatorsOnOneLease(t *testing.T) {
	scenario(t, func(f *fixture) {
		first := f.start(watchcanary.Options{Identity: "first"})
		f.await(time.Minute, "fresh", first.is(watchcanary.Fresh))
		second := f.start(watchcanary.Options{Identity: "second"})
		f.await(time.Minute, "fresh", second.is(watchcanary.Fresh))
		f.await(5*time.Minute, "the first is told", first.is(watchcanary.Blind))
		if s := first.Status(); !strings.Contains(s.Reason, "second") || !strings.Contains(s.Reason, "Options.Name") {
			t.Errorf("%q names neither the other nor what to do", s.Reason)
		}
		f.holds(time.Hour, "and stays so", func() bool {
			return first.is(watchcanary.Blind)() && second.is(watchcanary.Fresh)() && !first.fails() && !second.fails()
		})
		second.stop()
		f.await(10*time.Minute, "takes over", first.is(watchcanary.Fresh))
	})
}

// A leader that is followed by another, and leads again.
func TestHandOver(t *testing.T) {
	scenario(t, func(f *fixture) {
		first := f.start(watchcanary.Options{Identity: "first"})
		f.await(time.Minute, "fresh", first.is(watchcanary.Fresh))
		first.stop()
		if !first.is(watchcanary.Standby)() {
			t.Errorf("%+v", first.Status())
		}
		second := f.start(watchcanary.Options{Identity: "second"})
		f.await(time.Minute, "fresh", second.is(watchcanary.Fresh))
		second.stop()
		first.lead()
		f.await(time.Minute, "fresh", first.is(watchcanary.Fresh))
		f.holds(10*time.Minute, "fresh", first.is(watchcanary.Fresh))
		if l := f.lease(watchcanary.DefaultName); *l.Spec.HolderIdentity != "first" || *l.Spec.LeaseTransitions != 2 {
			t.Errorf("holder %s after %d transitions", *l.Spec.HolderIdentity, *l.Spec.LeaseTransitions)
		}
		if err := first.Start(f.Context()); err == nil {
			t.Error("a second Start beside the first")
		}
	})
}

// ahead is a replica's clock.
type ahead struct {
	clock.RealClock
	by time.Duration
}

func (a ahead) Now() time.Time                  { return time.Now().Add(a.by) }
func (a ahead) Since(t time.Time) time.Duration { return a.Now().Sub(t) }

// Replicas whose clocks differ follow each other. What one has noted counts for the
// other, unless it is too far in the future to be believed.
func TestClocksOfReplicasDiffer(t *testing.T) {
	for by, want := range map[time.Duration]int{-20 * time.Minute: 1, 3 * time.Minute: 1, 20 * time.Minute: 0} {
		t.Run(by.String(), func(t *testing.T) {
			scenario(t, func(f *fixture) {
				first := f.start(watchcanary.Options{Identity: "first", Clock: ahead{by: by}})
				f.await(time.Minute, "fresh", first.is(watchcanary.Fresh))
				f.srv.Stall(leases)
				f.await(10*time.Minute, "liveness fails", first.fails)
				first.stop()
				second := f.start(watchcanary.Options{Identity: "second"})
				f.await(time.Minute, "fresh", second.is(watchcanary.Fresh))
				if got := second.Status().Restarts; got != want {
					t.Errorf("%d restarts are remembered, want %d", got, want)
				}
				second.stop()
				first.lead()
				f.await(time.Minute, "fresh", first.is(watchcanary.Fresh))
				f.holds(10*time.Minute, "fresh", func() bool { return first.is(watchcanary.Fresh)() && !first.fails() })
			})
		})
	}
}

// A process that dies between a write and its event leaves nothing that its successor
// could be mistaken about.
func TestCrashBetweenWriteAndEvent(t *testing.T) {
	scenario(t, func(f *fixture) {
		p := f.start(watchcanary.Options{})
		f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
		f.srv.Stall(leases)
		f.await(2*watchcanary.DefaultInterval, "a write is unseen", func() bool { return p.Status().Unseen > 0 })
		p.stop()
		p = f.start(watchcanary.Options{})
		f.await(10*time.Second, "fresh", p.is(watchcanary.Fresh))
		if s := p.Status(); s.Unseen > 0 || s.Restarts > 0 {
			t.Errorf("%+v", s)
		}
	})
}
