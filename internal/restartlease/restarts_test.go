// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package restartlease

import (
	"slices"
	"strings"
	"testing"
	"time"
)

var epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       string
		ok         bool
	}{
		{"none", "", "", true},
		{"one", "2026-01-01T11:00:00Z", "2026-01-01T11:00:00Z", true},
		{"by hand: spaces, another zone, out of order", " 2026-01-01T11:30:00Z ,2026-01-01T12:00:00+01:00,", "2026-01-01T11:00:00Z,2026-01-01T11:30:00Z", true},
		{"fractions", "2026-01-01T11:00:00.9000001Z", "2026-01-01T11:00:00.9Z", true},
		{"another replica's clock is ahead", "2026-01-01T12:05:00Z", "2026-01-01T12:05:00Z", true},
		{"too far ahead", "2026-01-01T12:05:01Z", "", false},
		{"garbage beside one", "x,2026-01-01T11:00:00Z,3", "2026-01-01T11:00:00Z", false},
		{"something else", `{"restarts":[1]}`, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := Parse(tt.text, epoch)
			if got.String() != tt.want || ok != tt.ok {
				t.Errorf("%q, %v, want %q, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// Restarts that follow each other within the window are about one fault.
func TestRestartsRecent(t *testing.T) {
	r := Restarts{epoch.Add(-10 * time.Hour), epoch}
	for ago, want := range map[time.Duration]int{0: 2, time.Hour - 1: 2, time.Hour: 0} {
		if got := r.Recent(epoch.Add(ago), time.Hour); len(got) != want {
			t.Errorf("after %v %v, want %d", ago, got, want)
		}
	}
	if got := Restarts(nil).Recent(epoch, time.Hour); len(got) > 0 {
		t.Error(got)
	}
	if !r.Has(epoch.Add(time.Nanosecond)) || r.Has(epoch.Add(time.Microsecond)) {
		t.Error("a restart is known by its microsecond")
	}
}

func TestRestartsAddIsBounded(t *testing.T) {
	var r Restarts
	for i := range 2 * RememberedAtMost {
		r = r.Add(epoch.Add(time.Duration(i) * time.Second))
	}
	if len(r) != RememberedAtMost || !r[len(r)-1].Equal(epoch.Add((2*RememberedAtMost-1)*time.Second)) {
		t.Errorf("%d remembered, the last of %v", len(r), r[len(r)-1])
	}
}

// Whatever the annotation holds is read without harm, and what is written is read back.
func FuzzRestarts(f *testing.F) {
	for _, seed := range []string{
		"", ",", "2026-01-01T11:00:00Z", "2026-01-01T11:00:00Z,2026-01-01T11:30:00Z", "9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z",
		"2026-01-01T11:00:00.123456789+14:00", strings.Repeat("2026-01-01T11:00:00Z,", 1000), "\x00,\xff", `{"a":1}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := Parse(text, epoch)
		if len(got) > RememberedAtMost || !slices.IsSortedFunc(got, time.Time.Compare) {
			t.Errorf("%d, sorted: %v", len(got), got)
		}
		for _, at := range got {
			if at.After(epoch.Add(clockSkew)) {
				t.Errorf("%v is in the future", at)
			}
		}
		again, ok := Parse(got.String(), epoch)
		if !ok || !slices.EqualFunc(again, got, time.Time.Equal) {
			t.Errorf("%q is read back as %q, %v", got, again, ok)
		}
		if n := len(got.Add(epoch)); n > RememberedAtMost {
			t.Errorf("%d after one more", n)
		}
		_ = got.Recent(epoch, time.Hour)
	})
}
