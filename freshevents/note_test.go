// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestMessage(t *testing.T) {
	long := strings.Repeat("r", 250) + ".example.com/v1 in "
	for _, tt := range []struct {
		name     string
		reason   Reason
		subjects []string
		of       int
		text     string
		want     string
	}{
		{"none", RestartBudgetSpent, nil, 0, "text", "text"},
		{"one", InformerStalled, []string{"a"}, 14, "text", "text"},
		{"the same again", InformerStalled, []string{"a", "a"}, 14, "text", "text"},
		{"two", InformerStalled, []string{"b", "a"}, 14, "text", "2 of 14 informers (a, b). The last: text"},
		{"many", InformerStalled, []string{"e", "d", "c", "b", "a"}, 14, "text", "5 of 14 informers (a, b, c and 2 more). The last: text"},
		{"all", InformerHealed, []string{"a", "b"}, 2, "text", "2 informers (a, b). The last: text"},
		{"more than were known", InformerHealed, []string{"a", "b"}, 1, "text", "2 informers (a, b). The last: text"},
		{"controllers", ReconcileWedged, []string{"pods", "backups"}, 0, "text", "2 controllers (backups, pods). The last: text"},
		{"a long text", InformerStalled, []string{"a"}, 0, strings.Repeat("ö", 600), strings.Repeat("ö", 510) + "..."},
		{"long names leave the text", InformerStalled, []string{long + "a", long + "b"}, 0, "text", "2 informers (" + long + "a, " + strings.Repeat("r", 25) + "...). The last: text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var n *note
			for _, s := range append(tt.subjects, "")[:max(1, len(tt.subjects))] {
				one := newNote(tt.reason, noon, s, tt.text)
				one.of = tt.of
				if n == nil {
					n = &one
				} else {
					n.add(one)
				}
			}
			got := n.message()
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if len(got) >= 1024 || !utf8.ValidString(got) {
				t.Errorf("%d bytes, valid: %v", len(got), utf8.ValidString(got))
			}
		})
	}
}

// What was told in another order keeps its times, and the newest text.
func TestNoteAdd(t *testing.T) {
	n := newNote(InformerStalled, noon, "a", "second")
	n.add(newNote(InformerStalled, noon.Add(-time.Minute), "b", "first"))
	n.add(newNote(InformerStalled, noon.Add(time.Minute), "b", "third"))
	if n.count != 3 || !n.first.Equal(noon.Add(-time.Minute)) || !n.last.Equal(noon.Add(time.Minute)) || n.text != "third" || len(n.subjects) != 2 {
		t.Errorf("%+v", n)
	}
	for i := range 2 * subjectsAtMost {
		n.add(newNote(InformerStalled, noon, fmt.Sprint(i), ""))
	}
	if len(n.subjects) != subjectsAtMost || n.count != 3+2*subjectsAtMost || n.text != "third" {
		t.Errorf("%d subjects, %d times, %q", len(n.subjects), n.count, n.text)
	}
}
