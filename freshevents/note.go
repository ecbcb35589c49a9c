// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// messageLimit is what events.k8s.io/v1 allows, less one.
	messageLimit = 1023
	// namedAtMost is how many informers are named.
	namedAtMost = 3
	namesLimit  = 300
	// subjectsAtMost bounds memory: more are not told apart.
	subjectsAtMost = 10000
)

// note is what is to be written in one Event: what has happened once, or several times
// before it could be written.
type note struct {
	reason      Reason
	count       int
	first, last time.Time
	// subjects are the informers or controllers it is about, and of how many there are;
	// 0: nobody knows.
	subjects map[string]struct{}
	of       int
	text     string // of the last time
}

func newNote(reason Reason, at time.Time, subject, text string) note {
	n := note{reason: reason, count: 1, first: at, last: at, subjects: map[string]struct{}{}, text: text}
	if subject != "" {
		n.subjects[subject] = struct{}{}
	}
	return n
}

// add makes one note of two.
func (n *note) add(more note) {
	n.count += more.count
	if more.first.Before(n.first) {
		n.first = more.first
	}
	if !more.last.Before(n.last) {
		n.last, n.text = more.last, more.text
	}
	n.of = max(n.of, more.of)
	for s := range more.subjects {
		if len(n.subjects) < subjectsAtMost {
			n.subjects[s] = struct{}{}
		}
	}
}

// message is that of the Event.
func (n *note) message() string {
	if len(n.subjects) < 2 {
		return cut(n.text, messageLimit)
	}
	share := fmt.Sprintf("%d", len(n.subjects))
	if n.of > len(n.subjects) {
		share = fmt.Sprintf("%d of %d", len(n.subjects), n.of)
	}
	names := slices.Sorted(maps.Keys(n.subjects))
	more := ""
	if k := len(names) - namedAtMost; k > 0 {
		names, more = names[:namedAtMost], fmt.Sprintf(" and %d more", k)
	}
	return cut(fmt.Sprintf("%s %s (%s%s). The last: %s", share, n.reason.subjects(), cut(strings.Join(names, ", "), namesLimit), more, n.text), messageLimit)
}

// cut shortens a text to a number of bytes, and never within a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const dots = "..."
	end := limit - len(dots)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + dots
}
