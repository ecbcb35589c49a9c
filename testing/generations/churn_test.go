// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package generations

import (
	"sync"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// Objects that a healthy controller looks after, first quiet, then in churn: nothing is
// ever told, and a quiet kind costs metadata only.
func TestChurn(t *testing.T) {
	realplane.Test(t)
	objects, during := 1000, 20*time.Second
	if slow() {
		objects, during = 5000, 3*time.Minute
	}
	p := sharedPlane.Get(t)
	f := newFactory(t, p.Config())
	begin := time.Now()
	f.create(t, objects)
	if !poll.Until(t.Context(), patience, func() bool { return f.reports.Load() >= int64(objects) }) {
		t.Fatalf("%d reports after %v, want %d", f.reports.Load(), patience, objects)
	}
	created := time.Since(begin)

	api, err := faultproxy.NewAPI(p.Config(), faultproxy.APIOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	w := watch(t, api.Config(p.Config()), reconcile.GenerationKind{Object: f.part("")})
	b := &bill{api: api, watcher: w, pages: objects / 250}
	first := b.next(t)
	w.await(t, patience, "all is observed", w.caughtUp(parts))
	if n := w.of(parts).Objects; n != objects {
		t.Errorf("%d objects, want %d", n, objects)
	}
	b.next(t) // which may be what showed that
	quiet := b.next(t)
	if quiet.Full > 0 || quiet.Requests != b.pages {
		t.Errorf("a quiet kind costs %+v, want metadata only", quiet)
	}

	var edits int
	var wg sync.WaitGroup
	wg.Go(func() { edits = f.churn(t, during, 60) })
	trailed := 0
	var busy cost
	for end := time.Now().Add(during); time.Now().Before(end); {
		busy = b.next(t)
		st := w.of(parts)
		trailed = max(trailed, st.Trailing)
		if st.Lagging > 0 || st.Err != nil {
			t.Errorf("%+v, but the controller is healthy", st)
		}
	}
	wg.Wait()
	w.await(t, patience, "all is observed", w.caughtUp(parts))
	if lines := w.logged(""); len(lines) > 0 {
		t.Errorf("a healthy controller is told of: %q", lines)
	}
	if trailed == 0 {
		t.Error("no object was ever seen to trail: nothing was put to the test")
	}
	figures(t, map[string]any{
		"objects": objects, "createdIn": created, "edits": edits, "during": during, "mostTrailing": trailed,
		"firstRead": first, "quietRead": quiet, "busyRead": busy,
	})
}

// cost is what one read takes, without compression.
type cost struct {
	Requests, Full int // lists, and those of whole objects
	Megabytes      float64
	Milliseconds   int64 // that the lists took
}

// bill tells the reads of a watcher apart.
type bill struct {
	api     *faultproxy.API
	watcher *watcher
	pages   int // of one read, more than one
}

// next waits for a read to end, and returns what the newest has cost that has.
func (b *bill) next(t *testing.T) cost {
	t.Helper()
	b.watcher.await(t, patience, "a read", b.watcher.read(parts, time.Now()))
	var last, c cost
	previous := "none"
	for _, r := range b.api.Requests(faultproxy.Match{Verb: "list", Resource: parts}) {
		again := r.Continue == previous // the page in full, whose metadata came just before
		previous = r.Continue
		if r.Continue == "" && !again {
			c = cost{}
		}
		c.Requests++
		if again {
			c.Full++
		}
		c.Megabytes += float64(r.BytesDown) / 1e6
		c.Milliseconds += r.Duration.Milliseconds()
		if !r.Open && c.Requests-c.Full == b.pages {
			last = c // a last page in full comes after this
		}
	}
	return last
}
