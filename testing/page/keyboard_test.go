// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/internal/snapshots"
	"github.com/freshwatch/freshwatch/testing/page/internal/chromium"
)

// reachable names what a keyboard should reach, in the order of the document: what can be
// used, and what can be scrolled.
const reachable = `[...document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")]
	.filter((e) => e.checkVisibility({ visibilityProperty: true })).map(` + naming + `)`

const naming = `((e) => e.id || e.tagName + " " + (e.getAttribute("aria-label") ?? e.textContent.trim().replace(/\s+/g, " ")).slice(0, 60))`

// TestTab goes through the page by Tab, and sees where it is at each step.
func TestTab(t *testing.T) {
	for name, look := range map[string]chromium.Look{"desktop": chromium.Desktop(), "phone": chromium.Phone()} {
		t.Run(name, func(t *testing.T) {
			b := newStage(t, snapshots.Stalled()).open(t, look)
			b.await("!document.querySelector('#live').hidden")
			b.press(kb.Tab, 1)
			want := eval[[]string](b, reachable)
			var got []string
			for range want {
				got = append(got, eval[string](b, naming+"(document.activeElement)"))
				if !eval[bool](b, focusIsSeen) {
					t.Errorf("the focus is not seen on %s", got[len(got)-1])
				}
				b.press(kb.Tab, 1)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("by Tab (-want +got):\n%s", diff)
			}
			if len(want) < 20 {
				t.Errorf("only %d things can be reached: %q", len(want), want)
			}
		})
	}
}

// focusIsSeen tells whether what has the focus is marked, and in sight.
const focusIsSeen = `(() => {
	const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
	return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && box.bottom > 0 && box.top < innerHeight && box.height > 0;
})()`

// TestSkip: whoever uses a keyboard is at the diagnosis after two keys.
func TestSkip(t *testing.T) {
	b := newStage(t, snapshots.Stalled()).open(t, chromium.Phone())
	b.press(kb.Tab, 1)
	if got := eval[string](b, "document.activeElement.textContent"); got != "Skip to the diagnosis" {
		t.Fatalf("the first thing that Tab reaches is %q", got)
	}
	b.press(kb.Enter, 1)
	b.await("document.activeElement.id === 'diagnosis'")
}

// TestFold: evidence and informers are folded in and out by a key.
func TestFold(t *testing.T) {
	b := newStage(t, snapshots.Stalled()).open(t, chromium.Desktop())
	eval[bool](b, "(document.querySelector('#incident-3-evidence > summary').focus(), true)")
	b.press(kb.Enter, 1)
	b.await("document.querySelector('#incident-3-evidence').open")
	b.press(" ", 1)
	b.await("!document.querySelector('#incident-3-evidence').open")
}

// TestTargets: a thumb hits what it is meant for. WCAG 2.2 AA wants 24 pixels; this page
// has 36 for what stands alone.
func TestTargets(t *testing.T) {
	b := newStage(t, snapshots.Troubled()).open(t, chromium.Phone())
	const small = `[...document.querySelectorAll("button, .button, summary, .tiles a, input")]
		.filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 36).map((e) => e.outerHTML.slice(0, 80))`
	if got := eval[[]string](b, small); len(got) > 0 {
		t.Errorf("too small for a thumb: %q", got)
	}
}
