// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest_test

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// TestFakeClock runs the server on a clock that is stepped, and the client on the real one.
func TestFakeClock(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Now())
	srv := start(t, freshtest.Options{Clock: clock})
	client := typedClient(t, srv)
	rec := watchConfigMaps(t, client, watchOptions(srv.ResourceVersion(), 5*time.Minute))
	freshtest.Eventually(t, func() bool { return srv.Watches(configMaps) == 1 }, "the watch is not open")
	srv.Bump(5)
	want := listConfigMaps(t, client)

	var bookmarks []seen
	took := freshtest.StepUntil(t, clock, 5*time.Second, 2*time.Minute, func() bool {
		bookmarks = append(bookmarks, rec.take()...)
		return len(bookmarks) > 0
	}, "no bookmark")
	if bookmarks[0].RV != want || took < time.Minute || took > 70*time.Second {
		t.Errorf("%v after %v, want a bookmark at %d after about a minute", bookmarks, took, want)
	}
	took = freshtest.StepUntil(t, clock, 30*time.Second, 10*time.Minute, func() bool {
		ended, _ := rec.end()
		return ended != 0
	}, "the watch has not ended")
	if took < 3*time.Minute || took > 5*time.Minute {
		t.Errorf("the watch ended %v after its first bookmark, want the rest of 5 min", took)
	}
}

// TestFakeClockStall is the shape of a test that has no bubble: stall, step, look, lift.
func TestFakeClockStall(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Now())
	srv := start(t, freshtest.Options{Clock: clock})
	informer := configMapInformer(t, srv)
	freshtest.WaitForSync(t, informer.HasSynced)
	stall := srv.Stall(configMaps)
	mustCreate(t, srv, configMap("a"))
	for range 10 {
		clock.Step(time.Minute)
	}
	if got := contents(t, informer); got != nil {
		t.Errorf("the informer has seen %v through a stalled watch", got)
	}
	stall.Lift()
	freshtest.Eventually(t, func() bool { return len(contents(t, informer)) == 1 }, "the informer has not seen a")
}
