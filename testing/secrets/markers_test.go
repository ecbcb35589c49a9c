// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// markers are what must not be told, by what they are.
type markers map[string]string

// forms are how a marker may be written.
func forms(m string) []string {
	out := []string{m, url.QueryEscape(m), base64.StdEncoding.EncodeToString([]byte(m)), base64.RawURLEncoding.EncodeToString([]byte(m))}
	return slices.Compact(out)
}

// in returns which markers a text holds.
func (m markers) in(text string) (found []string) {
	for what, marker := range m {
		if slices.ContainsFunc(forms(marker), func(f string) bool { return strings.Contains(text, f) }) {
			found = append(found, what)
		}
	}
	slices.Sort(found)
	return found
}

// The search finds what there is to be found.
func TestMarkersAreFound(t *testing.T) {
	m := markers{"a token": "eyJhbGciOi.payload.signature", "a value": "hunter2hunter2"}
	for text, want := range map[string]int{
		"all is well": 0,
		`Authorization: Bearer eyJhbGciOi.payload.signature`:                                 1,
		"data: " + base64.StdEncoding.EncodeToString([]byte("hunter2hunter2")) + " and more": 1,
		"hunter2hunter2, eyJhbGciOi.payload.signature":                                       2,
	} {
		if got := m.in(text); len(got) != want {
			t.Errorf("%q: found %v, want %d", text, got, want)
		}
	}
}
