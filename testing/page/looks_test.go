// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/internal/snapshots"
	"github.com/freshwatch/freshwatch/testing/page/internal/chromium"
)

// scenes are what the page is looked at with.
func scenes() map[string]flightrecorder.Snapshot {
	return map[string]flightrecorder.Snapshot{
		"healthy": snapshots.Healthy(), "stalled": snapshots.Stalled(), "troubled": snapshots.Troubled(),
		"empty": snapshots.Empty(), "long": long(),
	}
}

// long is of names that fill the width of a phone several times over.
func long() flightrecorder.Snapshot {
	s := snapshots.Troubled()
	word := strings.Repeat("unbroken", 30)
	for i := range s.Informers {
		s.Informers[i].Name, s.Informers[i].Reason, s.Informers[i].RV = word, word, word
		s.Informers[i].Log = append(s.Informers[i].Log, flightrecorder.Entry{Time: s.Time, Count: 12, What: word})
	}
	for i := range s.Incidents {
		s.Incidents[i].Diagnosis, s.Incidents[i].Informer.Resource, s.Incidents[i].Evidence.Reason = word, word, word
		s.Incidents[i].Evidence.Watch.Local = word
	}
	for i := range s.Connections {
		s.Connections[i].Local = word
	}
	for i := range s.Reconciles {
		s.Reconciles[i].Controller, s.Reconciles[i].Request = word, word
	}
	s.Canary.Reason, s.Headline = word, word
	return s
}

func names(scenes map[string]flightrecorder.Snapshot) []string {
	return slices.Sorted(maps.Keys(scenes))
}

// TestNothingOverflows: a page that is wider than a phone has to be pushed around at 3 a.m.
func TestNothingOverflows(t *testing.T) {
	all := scenes()
	for _, name := range names(all) {
		for _, width := range []int64{320, 360, 768, 1200} {
			t.Run(fmt.Sprintf("%s/%d", name, width), func(t *testing.T) {
				look := chromium.Phone()
				look.Width = width
				b := newStage(t, all[name]).open(t, look)
				b.unfold()
				if wide := eval[[]string](b, overflowing); len(wide) > 0 {
					t.Errorf("wider than the page: %s", strings.Join(wide, "\n"))
				}
			})
		}
	}
}

// overflowing names what sticks out of the page, and is in no container that scrolls.
const overflowing = `(() => {
	const width = document.documentElement.clientWidth, out = [];
	if (document.scrollingElement.scrollWidth > width) out.push("the page: " + document.scrollingElement.scrollWidth);
	for (const e of document.querySelectorAll("body *")) {
		if (e.closest(".scroll > *, .log > *, .unseen, .skip, .sprite, svg *") || !e.checkVisibility()) continue;
		const box = e.getBoundingClientRect();
		if (box.width > 0 && (box.right > width + 1 || box.left < -1)) out.push(e.outerHTML.slice(0, 120) + ": " + box.left + " to " + box.right);
	}
	return out;
})()`

// TestOverflowIsSeen is the control of the test above.
func TestOverflowIsSeen(t *testing.T) {
	b := newStage(t, snapshots.Healthy()).open(t, chromium.Phone())
	eval[string](b, "document.querySelector('.more').style.whiteSpace = 'nowrap'")
	if wide := eval[[]string](b, overflowing); len(wide) == 0 {
		t.Error("a line that does not wrap is not seen to overflow")
	}
}

// TestLightAndDark: each is what it says, and neither is the other.
func TestLightAndDark(t *testing.T) {
	all := scenes()
	for _, name := range names(all) {
		t.Run(name, func(t *testing.T) {
			b := newStage(t, all[name]).open(t, chromium.Desktop())
			look := chromium.Desktop()
			look.Reduced = true
			b.check(b.Look(look))
			light := brightness(t, b)
			look.Dark = true
			b.check(b.Look(look))
			dark := brightness(t, b)
			if light < .8 || dark > .25 {
				t.Errorf("of 1, the light page is %.2f bright and the dark one %.2f", light, dark)
			}
		})
	}
}

// brightness is how bright a picture of the page is on average, from 0 to 1.
func brightness(t *testing.T, b *tab) float64 {
	t.Helper()
	shot, err := b.Shot()
	b.check(err)
	img, err := png.Decode(bytes.NewReader(shot))
	b.check(err)
	sum, n := 0.0, 0
	for at := range points(img.Bounds()) {
		r, g, bl, _ := img.At(at.X, at.Y).RGBA()
		sum += (.2126*float64(r) + .7152*float64(g) + .0722*float64(bl)) / 0xffff
		n++
	}
	return sum / float64(n)
}

func points(r image.Rectangle) func(func(image.Point) bool) {
	return func(yield func(image.Point) bool) {
		for y := r.Min.Y; y < r.Max.Y; y += 3 {
			for x := r.Min.X; x < r.Max.X; x += 3 {
				if !yield(image.Pt(x, y)) {
					return
				}
			}
		}
	}
}

// TestMotion: what moves tells that something is wrong, and moves for nobody who does not
// want that.
func TestMotion(t *testing.T) {
	b := newStage(t, snapshots.Stalled()).open(t, chromium.Desktop())
	const moving = "document.getAnimations().filter((a) => a.playState === 'running').length"
	if n := eval[int](b, moving); n == 0 {
		t.Error("nothing moves: the test below would prove nothing")
	}
	look := chromium.Desktop()
	look.Reduced = true
	b.check(b.Look(look))
	if n := eval[int](b, moving); n != 0 {
		t.Errorf("%d things move for who wants no motion", n)
	}
}
