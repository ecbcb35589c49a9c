// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func TestRing(t *testing.T) {
	r := ring{limit: 3}
	for i, what := range []string{"a", "b", "b", "b", "c", "d", "e"} {
		r.add(at(i), what)
	}
	want := []Entry{{Time: at(4), Count: 1, What: "c"}, {Time: at(5), Count: 1, What: "d"}, {Time: at(6), Count: 1, What: "e"}}
	if diff := cmp.Diff(want, r.all()); diff != "" {
		t.Errorf("the newest three, the oldest first (-want +got):\n%s", diff)
	}
	r.add(at(7), "e")
	if diff := cmp.Diff(Entry{Time: at(6), Until: at(7), Count: 2, What: "e"}, r.all()[2]); diff != "" {
		t.Errorf("what happens again is counted (-want +got):\n%s", diff)
	}
	if r.all()[0].What = "changed"; r.all()[0].What != "c" {
		t.Error("what all returns has to be a copy")
	}
}

func TestRingKeepsItsLimit(t *testing.T) {
	r := ring{limit: 8}
	for i := range 1000 {
		r.add(at(i), strconv.Itoa(i))
	}
	if got := r.all(); len(got) != 8 || got[0].What != "992" || got[7].What != "999" {
		t.Errorf("got %v, want 992 to 999", got)
	}
}

func TestCut(t *testing.T) {
	for _, s := range []string{"", "short", strings.Repeat("x", textLimit), strings.Repeat("x", textLimit+1), strings.Repeat("é", textLimit)} {
		got := cut(s)
		switch {
		case len(got) > textLimit, !utf8.ValidString(got):
			t.Errorf("cut(%q) = %q, of %d bytes", s, got, len(got))
		case len(s) <= textLimit && got != s, len(s) > textLimit && !strings.HasSuffix(got, "..."):
			t.Errorf("cut(%q) = %q", s, got)
		}
	}
}
