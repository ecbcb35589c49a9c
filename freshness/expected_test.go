// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// An informer that was never started, or has stopped, is nobody's: only who expects
// it can miss it.
func TestExpectedInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gadgets := freshness.Informer{Group: "example.com", Resource: "gadgets"}
		f := newFixture(t, freshness.Options{Expected: []freshness.Informer{gadgets, {Group: widgets.Group, Resource: widgets.Resource}}})
		absent := func(name freshness.Informer) bool {
			return slices.ContainsFunc(f.monitor.Status(), func(st freshness.Status) bool {
				return st.Informer == name && st.Verdict == freshness.Blind
			})
		}
		ctx, stop := context.WithCancel(f.ctx)
		f.wg.Go(func() { _ = f.monitor.Start(f.ctx) })
		time.Sleep(30 * time.Second)
		if len(f.monitor.Status()) != 1 {
			t.Errorf("reported within the grace: %+v", f.monitor.Status())
		}
		time.Sleep(time.Minute)
		unversioned := freshness.Informer{Group: widgets.Group, Resource: widgets.Resource}
		if !absent(gadgets) || !absent(unversioned) {
			t.Errorf("one never made, one never started: %+v", f.monitor.Status())
		}
		f.wg.Go(func() { f.guarded.RunWithContext(ctx) })
		f.sleepUntil(time.Minute, "found", func() bool { return !absent(unversioned) })
		if !absent(gadgets) {
			t.Error("gadgets are not missed any more")
		}
		time.Sleep(time.Minute)
		stop()
		f.sleepUntil(2*time.Minute, "missed again", func() bool { return absent(unversioned) })
		if err := f.monitor.Check(nil); err != nil {
			t.Error(err)
		}
	})
}

func TestExpectedNeedsAResource(t *testing.T) {
	if _, err := freshness.New(freshness.Options{Expected: []freshness.Informer{{Group: "example.com"}}}); err == nil {
		t.Error("no error")
	}
}
