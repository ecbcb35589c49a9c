// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompare(t *testing.T) {
	type vs = map[string]string
	tests := []struct {
		name, why     string
		server, store vs
		rv            string
		want          []string
	}{
		{"equal", "nothing differs", vs{"a": "5", "b": "6"}, vs{"a": "5", "b": "6"}, "10", nil},
		{"lost update", "the cache has an older version", vs{"a": "9"}, vs{"a": "5"}, "10", []string{"a"}},
		{"lost creation", "the cache has nothing", vs{"a": "9"}, vs{}, "10", []string{"a"}},
		{"lost deletion", "the cache has what was there before", vs{}, vs{"a": "10"}, "10", []string{"a"}},
		{"changed since", "the cache is ahead", vs{"a": "5"}, vs{"a": "11"}, "10", nil},
		{"not of this history", "newer than the server's, and not after that moment: the datastore went back", vs{"a": "4"}, vs{"a": "9"}, "10", []string{"a"}},
		{"created since", "the cache is ahead", vs{}, vs{"a": "11"}, "10", nil},
		{"no moment, lost update", "", vs{"a": "9"}, vs{"a": "5"}, "", []string{"a"}},
		{"no moment, extra", "it may have been created since: to be confirmed", vs{}, vs{"a": "11"}, "", []string{"a"}},
		{"not comparable, other", "only equality counts", vs{"a": "x"}, vs{"a": "y"}, "", []string{"a"}},
		{"not comparable, same", "only equality counts", vs{"a": "x"}, vs{"a": "x"}, "", nil},
		{"empty", "", vs{}, vs{}, "10", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, compare(tt.server, tt.store, tt.rv).names()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.why, diff)
			}
		})
	}
}

func TestConfirmed(t *testing.T) {
	first := differences{"lost": {"9", "5"}, "deleted since": {"8", ""}, "arrived since": {"7", "6"}, "hot": {"6", "5"}, "hot, and comes": {"6", "5"}}
	later := differences{"lost": {"9", "5"}, "hot": {"12", "5"}, "hot, and comes": {"12", "7"}, "new": {"12", "11"}}
	if diff := cmp.Diff([]string{"hot", "lost"}, first.confirmed(later).names()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDifferencesNameThree(t *testing.T) {
	d := differences{"d": {}, "b": {}, "a": {}, "c": {}, "e": {}}
	if got, want := d.String(), "a, b, c, and 2 more"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := (differences{"b": {}, "a": {}}).String(), "a, b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
