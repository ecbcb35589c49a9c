// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJSON(t *testing.T) {
	healed := `{
  "fault": "stream",
  "guarded": {
    "detected_s": 59,
    "healed_s": 60,
    "requests": 5,
    "relisted_objects": 0
  },
  "stock": {
    "seen_s": null,
    "waited_s": 80
  }
}
`
	missed := `{
  "fault": "stream",
  "guarded": {
    "detected_s": null,
    "healed_s": null,
    "requests": 5,
    "relisted_objects": 0
  },
  "stock": {
    "seen_s": 1.235,
    "waited_s": 80
  }
}
`
	quiet := `{
  "fault": "none",
  "guarded": {
    "detected_s": null,
    "healed_s": null,
    "requests": 5,
    "relisted_objects": 0
  },
  "stock": {
    "seen_s": null,
    "waited_s": 300
  },
  "quiet": {
    "proofs": 5,
    "longest_gap_s": 61,
    "largest_bound_s": 75,
    "cures": 0
  }
}
`
	unseen := asPromised("stream")
	unseen.detected = 0
	delete(unseen.guarded.seen, settings)
	unseen.stock.seen[settings] = 1234567890
	for _, test := range []struct {
		name string
		o    outcome
		want string
	}{
		{"healed", asPromised("stream"), healed},
		{"what did not happen is null", unseen, missed},
		{"no fault", asPromised("none"), quiet},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout bytes.Buffer
			if err := writeJSON("-", &stdout, test.o); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, stdout.String()); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
		})
	}

	t.Run("to a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "out.json")
		if err := os.WriteFile(file, bytes.Repeat([]byte("what was there before "), 100), 0o644); err != nil {
			t.Fatal(err)
		}
		var stdout bytes.Buffer
		if err := writeJSON(file, &stdout, asPromised("stream")); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(healed, string(got)); diff != "" || stdout.Len() > 0 {
			t.Errorf("on standard output %q, in the file (-want +got):\n%s", stdout.String(), diff)
		}
	})

	t.Run("nowhere unless asked for", func(t *testing.T) {
		var stdout bytes.Buffer
		if err := writeJSON("", &stdout, asPromised("stream")); err != nil || stdout.Len() > 0 {
			t.Errorf("wrote %q, error %v", stdout.String(), err)
		}
	})
}
