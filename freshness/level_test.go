// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
)

// handle adds a handler that takes what it returns over each notification.
func (f *fixture) handle(took func() time.Duration) {
	f.t.Helper()
	sleep := func() {
		select {
		case <-time.After(took()):
		case <-f.ctx.Done():
		}
	}
	_, err := f.monitor.AddEventHandler(f.guarded, cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { sleep() },
		UpdateFunc: func(any, any) { sleep() },
		DeleteFunc: func(any) { sleep() },
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// A handler that blocks leaves the cache perfect: proofs say so, and its
// notifications pile up unseen.
func TestBlockedHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		blocked := false
		f.handle(func() time.Duration {
			if blocked {
				return 24 * time.Hour
			}
			return 0
		})
		f.fill()
		f.warm()
		if st := f.status(); st.Behind != freshness.LevelNone || st.Pending > 0 {
			t.Errorf("before: %+v", st)
		}
		blocked = true
		for range 5 {
			_ = f.srv.Update(widget("a", "blue"))
			_ = f.srv.Update(widget("a", "red"))
		}
		time.Sleep(time.Minute)
		st := f.status()
		if st.Verdict != freshness.Fresh || st.Behind != freshness.LevelHandlers || st.Pending != 10 {
			t.Errorf("%v, behind %v, %d pending; want Fresh, handlers, 10", st.Verdict, st.Behind, st.Pending)
		}
		if !strings.Contains(st.Reason, "10 notifications wait") {
			t.Errorf("reason %q", st.Reason)
		}
		if err := f.monitor.Check(nil); err != nil {
			t.Error(err)
		}
		time.Sleep(freshness.DefaultFailAfter)
		if err := f.monitor.Check(nil); !errors.Is(err, freshness.ErrStalled) || !strings.Contains(err.Error(), "handler") {
			t.Errorf("got %v, want the handler's name", err)
		}
		if cures := f.status().Cures; cures[freshness.Relist]+cures[freshness.List] > 0 {
			t.Errorf("cures %v for a handler", cures)
		}
	})
}

// Slow is not blocked, and a pause of the process is none of the handler's.
func TestSlowHandlerThatMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		f.handle(func() time.Duration { return 2 * time.Second })
		f.fill()
		f.warm()
		f.every(time.Second, func() { _ = f.srv.Update(widget("a", time.Now().String())) })
		for range 20 * 60 {
			time.Sleep(time.Second)
			if err := f.monitor.Check(nil); err != nil || f.status().Behind != freshness.LevelNone {
				t.Fatalf("%v, behind %v", err, f.status().Behind)
			}
		}
		if n := f.status().Pending; n < 100 {
			t.Errorf("%d pending, want hundreds", n)
		}
		f.harmless()
	})
}

// A store that does not take what the stream has brought is at fault itself: no
// cure, and a restart helps.
func TestBlockedStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		blocked := false
		if err := f.guarded.SetTransform(func(obj any) (any, error) {
			if blocked {
				<-f.ctx.Done()
			}
			return obj, nil
		}); err != nil {
			t.Fatal(err)
		}
		f.fill()
		f.warm()
		blocked = true
		_ = f.srv.Update(widget("a", "blue"))
		f.sleepUntil(3*time.Minute, "stalled", func() bool { return f.status().Behind == freshness.LevelStore })
		if st := f.status(); st.Verdict != freshness.Stalled || !strings.Contains(st.Reason, "something in this process blocks it") {
			t.Errorf("behind %v: %s", st.Behind, st.Reason)
		}
		time.Sleep(freshness.DefaultFailAfter + 10*time.Second)
		if err := f.monitor.Check(nil); !errors.Is(err, freshness.ErrStalled) {
			t.Errorf("got %v, want a failure: a restart helps; events:\n%s", err, f.log())
		}
	})
}

func TestAddEventHandlerRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		if _, err := f.monitor.AddEventHandler(f.stock, cache.ResourceEventHandlerFuncs{}); !errors.Is(err, freshness.ErrNotMonitored) {
			t.Errorf("got %v, want ErrNotMonitored", err)
		}
		if _, err := f.monitor.AddEventHandler(f.guarded, nil); err == nil {
			t.Error("no error for no handler")
		}
	})
}

// A handler that was removed is not waited for.
func TestRemovedHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		r, err := f.monitor.AddEventHandler(f.guarded, cache.ResourceEventHandlerFuncs{})
		if err != nil {
			t.Fatal(err)
		}
		f.fill()
		f.warm()
		if err := f.guarded.RemoveEventHandler(r); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			_ = f.srv.Update(widget("a", "blue"))
			_ = f.srv.Update(widget("a", "red"))
			time.Sleep(time.Minute)
		}
		if st := f.status(); st.Behind != freshness.LevelNone || st.Pending > 0 {
			t.Errorf("behind %v, %d pending", st.Behind, st.Pending)
		}
	})
}
