// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// connections stands for a transport: new ones heal what is wrong with the old.
type connections struct {
	recycled atomic.Int32
	heal     func()
}

func (c *connections) Recycle() int {
	if c.recycled.Add(1) == 1 {
		c.heal()
	}
	return 1
}

// Where every watch that is opened falls silent, and lists do not help since they
// are followed by one, new connections are the last resort, well before a restart
// is asked for.
func TestReconnectIsTheLastCure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &connections{}
		f := newFixture(t, freshness.Options{Connections: c})
		f.ready()
		f.busyElsewhere()
		time.Sleep(2 * time.Minute)
		dead, deadNew := f.srv.Stall(widgets), f.srv.StallNew(widgets)
		c.heal = func() { deadNew.Lift(); dead.Lift() }
		// Every cure has to fail, so something is written that only watches bring.
		f.every(5*time.Second, func() { _ = f.srv.Update(widget("a", time.Now().String())) })
		f.sleepUntil(10*time.Minute, "reconnected", func() bool { return c.recycled.Load() == 1 })
		if err := f.monitor.Check(nil); err != nil {
			t.Errorf("a restart was asked for before: %v", err)
		}
		f.sleepUntil(time.Minute, "fresh", f.is(freshness.Fresh))
		st := f.status()
		if st.Cures[freshness.Reconnect] != 1 || st.ProvenCures[freshness.Reconnect] != 1 {
			t.Errorf("cures %v, proven %v; want one reconnect that worked", st.Cures, st.ProvenCures)
		}
		if c.recycled.Load() != 1 {
			t.Errorf("connections were recycled %d times, want once", c.recycled.Load())
		}
	})
}

// One kind whose watches no connection helps does not cost the others theirs again
// and again, and still gets the present from lists.
func TestReconnectIsRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &connections{heal: func() {}}
		f := newFixture(t, freshness.Options{Connections: c})
		f.ready()
		f.busyElsewhere()
		time.Sleep(2 * time.Minute)
		f.srv.Stall(widgets)
		f.srv.StallNew(widgets)
		for range 30 {
			if err := f.srv.Update(widget("a", time.Now().String())); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Minute)
			if err := f.monitor.Check(nil); err != nil {
				t.Fatalf("a restart was asked for: %v", err)
			}
		}
		if got := c.recycled.Load(); got < 1 || got > 7 {
			t.Errorf("connections were recycled %d times in an hour, want some and at most one in 10 min", got)
		}
		if f.status().ProvenCures[freshness.Relist] == 0 {
			t.Error("no relist brought the present")
		}
	})
}
