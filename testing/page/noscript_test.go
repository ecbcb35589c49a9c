// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"strings"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/internal/snapshots"
	"github.com/freshwatch/freshwatch/testing/page/internal/chromium"
)

// TestWithoutScript: the page is whole, reloads itself, and can be told not to.
func TestWithoutScript(t *testing.T) {
	s := newStage(t, snapshots.Stalled())
	look := chromium.Desktop()
	look.NoScript = true
	b := s.open(t, look)
	deadline := time.Now().Add(time.Minute)
	for s.pages.Load() < 3 {
		if time.Now().After(deadline) {
			t.Fatalf("the page was loaded %d times in a minute", s.pages.Load())
		}
		b.check(b.Settle())
	}
	text := ""
	for missing := "all"; missing != ""; { // the page may just be loading
		if time.Now().After(deadline) {
			t.Fatalf("the page does not say %q without scripts, but\n%s", missing, text)
		}
		text, missing = strings.Join(namesOf(tree(b)), "\n"), ""
		for _, want := range []string{"fell silent", "configmaps/v1 in prod", "Stop refreshing", "JSON"} {
			if !strings.Contains(text, want) {
				missing = want
			}
		}
	}
	for _, not := range []string{"Pause refreshing", "Filter"} {
		if strings.Contains(text, not) {
			t.Errorf("the page offers %q, which does nothing without scripts", not)
		}
	}
	b.check(b.Go(s.URL + "/debug/freshwatch?refresh=off"))
	if text := strings.Join(namesOf(tree(b)), "\n"); strings.Contains(text, "Stop refreshing") || !strings.Contains(text, "fell silent") {
		t.Errorf("with refreshing off the page says %s", text)
	}
	before := s.pages.Load()
	for range 25 {
		b.check(b.Settle())
	}
	if n := s.pages.Load() - before; n != 0 {
		t.Errorf("the page was loaded %d times more though refreshing is off", n)
	}
}
