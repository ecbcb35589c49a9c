// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/internal/snapshots"
	"github.com/freshwatch/freshwatch/testing/page/internal/chromium"
)

// TestManyInformers: with a thousand of them the page is loaded, filtered and refreshed, and
// stays as it was folded and scrolled. How long that takes is logged, not judged: it
// depends on the machine.
func TestManyInformers(t *testing.T) {
	s := newStage(t, snapshots.Many(1000))
	b := s.open(t, chromium.Phone())
	loading, err := b.Busy()
	b.check(err)
	t.Logf("loaded: %v of a processor", loading.Round(time.Millisecond))
	if n := eval[int](b, "document.querySelectorAll('.informer').length"); n != 1000 {
		t.Fatalf("%d informers", n)
	}
	if !eval[bool](b, "!document.querySelector('#fresh-ones').open && document.querySelectorAll('#failing .informer').length === 11") {
		t.Error("the fresh ones are not folded in, or the others not shown")
	}

	const typing = "((text) => { const f = document.querySelector('#filter-text'), at = performance.now(); f.value = text; f.dispatchEvent(new Event('input', { bubbles: true })); return performance.now() - at; })"
	b.busy("filtered", func() { eval[float64](b, typing+"('customresources0777')") })
	b.await("document.querySelector('#filter-count').textContent === '1 of 1000' && document.querySelector('#fresh-ones').open")
	if n := eval[int](b, "[...document.querySelectorAll('.informer')].filter((e) => e.checkVisibility()).length"); n != 1 {
		t.Errorf("%d informers are left", n)
	}
	if wide := eval[[]string](b, overflowing); len(wide) > 0 {
		t.Errorf("wider than the page: %q", wide)
	}

	later := snapshots.Later(snapshots.Many(1000), 9*time.Second)
	b.busy("refreshed", func() {
		s.show(later)
		b.again()
		b.refreshed(s)
	})
	if n := eval[int](b, "[...document.querySelectorAll('.informer')].filter((e) => e.checkVisibility()).length"); n != 1 {
		t.Errorf("%d informers are left after refreshing", n)
	}
	eval[float64](b, typing+"('')")
	if !eval[bool](b, "!document.querySelector('#fresh-ones').open && document.querySelector('#filter-count').textContent === ''") {
		t.Error("after filtering the list of fresh ones is not folded in as it was before")
	}

	// All change their verdict at once, and back: every row moves.
	worst := snapshots.Many(1000)
	worst.Time = worst.Time.Add(20 * time.Second)
	worst.Informers = append([]flightrecorder.Informer(nil), worst.Informers...)
	for i := range worst.Informers {
		worst.Informers[i].Verdict = worst.Informers[0].Verdict
	}
	b.busy("all moved", func() {
		s.show(worst)
		b.again()
		b.await("document.querySelectorAll('#failing .informer').length === 1000")
	})
	s.show(snapshots.Many(1000))
	b.again()
	b.await("document.querySelectorAll('#failing .informer').length === 11")
	if n := eval[int](b, "new Set([...document.querySelectorAll('[id]')].map((e) => e.id)).size - document.querySelectorAll('[id]').length"); n != 0 {
		t.Errorf("%d ids are there twice", -n)
	}
}
