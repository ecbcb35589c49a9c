// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/internal/snapshots"
)

func body(t testing.TB, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// assets are in files of their own, and would be in every golden one.
var assets = regexp.MustCompile(`(?s)(<style>|<script>).*?(</style>|</script>)`)

func TestGoldenPages(t *testing.T) {
	for name, s := range map[string]flightrecorder.Snapshot{
		"healthy": snapshots.Healthy(), "stalled": snapshots.Stalled(), "troubled": snapshots.Troubled(), "empty": snapshots.Empty(),
	} {
		r := get(newPage(t, s), "/debug/freshwatch")
		if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: %s, %s", name, r.Status, r.Header.Get("Content-Type"))
		}
		golden(t, name+".html", assets.ReplaceAllString(body(t, r), "$1$2"))
	}
}

// TestRecorder serves a real one, and pins what the page takes from its headline: it is the
// diagnosis of the incident that goes on, or else says nothing that changes as time passes.
func TestRecorder(t *testing.T) {
	recorder, err := flightrecorder.New(flightrecorder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(Options{Recorder: recorder})
	if err != nil {
		t.Fatal(err)
	}
	page := body(t, get(h, "/"))
	for _, want := range []string{"No informer is known", "debugpage.test", "monitor.NewInformer", "Nothing to see yet"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of a new recorder does not say %q", want)
		}
	}
}

// TestThousandInformers keeps the page small enough for a phone and a port-forward.
func TestThousandInformers(t *testing.T) {
	h := newPage(t, snapshots.Many(1000))
	page := body(t, get(h, "/"))
	if n := len(page); n > 1_500_000 {
		t.Errorf("the page of 1,000 informers has %d bytes, want at most 1.5 MB", n)
	}
	if n := strings.Count(page, `class="informer `); n != 1000 {
		t.Errorf("it has %d informers", n)
	}
	short := get(h, "/", "Accept-Encoding", "br, gzip")
	sent := body(t, short)
	if short.Header.Get("Content-Encoding") != "gzip" || len(sent) > 200_000 {
		t.Errorf("compressed (%q) it has %d bytes, want at most 200 kB", short.Header.Get("Content-Encoding"), len(sent))
	}
	unpacked, err := gzip.NewReader(bytes.NewReader([]byte(sent)))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(unpacked); err != nil || string(got) != page {
		t.Errorf("compressed it is another page (%v)", err)
	}
	t.Logf("%d bytes, compressed %d", len(page), len(sent))

	huge := snapshots.Many(5000)
	page = body(t, get(newPage(t, huge), "/"))
	if n := len(page); n > 3_500_000 || !strings.Contains(page, "3,000 more are in the JSON.") {
		t.Errorf("the page of 5,000 informers has %d bytes, or does not say that some are left out", n)
	}
}

// TestAtOnce serves many at the same time; the race detector watches.
func TestAtOnce(t *testing.T) {
	h := newPage(t, snapshots.Troubled())
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for _, target := range []string{"/", "/?format=json"} {
				if r := get(h, target); r.StatusCode != http.StatusOK {
					t.Errorf("%s: %s", target, r.Status)
				}
			}
		})
	}
	group.Wait()
}
