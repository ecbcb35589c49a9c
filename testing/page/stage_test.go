// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/debugpage"
	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/testing/page/internal/chromium"
)

// stage is a page that is served, and what it shows.
type stage struct {
	*httptest.Server
	pages  atomic.Int64 // served
	status atomic.Int64 // instead of a page; 0: none

	mu    sync.Mutex
	shows flightrecorder.Snapshot
}

// Snapshot is what debugpage asks for.
func (s *stage) Snapshot() flightrecorder.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shows
}

func (s *stage) show(snapshot flightrecorder.Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shows = snapshot
}

// often is how often the page refreshes itself in these tests.
const often = time.Second

func newStage(t *testing.T, first flightrecorder.Snapshot) *stage {
	t.Helper()
	s := &stage{shows: first}
	page, err := debugpage.New(debugpage.Options{
		Recorder: s, Title: "inference-operator", Refresh: often,
		Links: []debugpage.Link{{Text: "Metrics", URL: "/metrics"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.pages.Add(1)
		if status := s.status.Load(); status != 0 {
			http.Error(w, http.StatusText(int(status)), int(status))
			return
		}
		page.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Server.Close)
	return s
}

// open opens the page, and at the end of the test looks whether the browser complained of
// it, or asked anybody else for anything.
func (s *stage) open(t *testing.T, look chromium.Look) *tab {
	t.Helper()
	opened, err := one.get(t).Open(s.URL+"/debug/freshwatch", look)
	if err != nil {
		t.Fatal(err)
	}
	out := &tab{Tab: opened, t: t}
	t.Cleanup(func() {
		out.Close()
		for _, c := range out.Complaints() {
			if out.expected == "" || !strings.Contains(c, out.expected) {
				t.Errorf("the browser complains: %s", c)
			}
		}
		for _, url := range out.Requests() {
			if !strings.HasPrefix(url, s.URL+"/debug/freshwatch") && !strings.HasPrefix(url, "data:image/svg+xml,") {
				t.Errorf("the page asks for %s", url)
			}
		}
	})
	return out
}

// tab is a page that is open in a test.
type tab struct {
	*chromium.Tab
	t        *testing.T
	expected string // a complaint that is
}

func (b *tab) check(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// await waits until an expression is true.
func (b *tab) await(expression string) {
	b.t.Helper()
	if err := b.Await(expression); err != nil {
		b.t.Fatalf("waiting for %s: %v; the page says %q", expression, err, eval[string](b, "document.querySelector('#hero')?.innerText ?? document.body.innerText"))
	}
}

func (b *tab) press(keys string, times int) {
	b.t.Helper()
	for range times {
		b.check(b.Press(keys))
	}
}

// eval returns what an expression is.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromium.Eval[T](b.Tab, expression)
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// unfold opens everything that can be.
func (b *tab) unfold() {
	b.t.Helper()
	eval[int](b, "[...document.querySelectorAll('details')].map((d) => { d.open = true }).length")
}

// again refreshes the page now.
func (b *tab) again() {
	b.t.Helper()
	eval[bool](b, "(document.querySelector('#again').click(), true)")
}

// busy logs what something costs the browser.
func (b *tab) busy(what string, f func()) {
	b.t.Helper()
	begin := time.Now()
	before, err := b.Busy()
	b.check(err)
	f()
	after, err := b.Busy()
	b.check(err)
	b.t.Logf("%s: %v of a processor, done within %v", what, (after - before).Round(time.Millisecond), time.Since(begin).Round(time.Millisecond))
}
