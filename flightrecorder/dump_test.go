// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/transport"
)

var update = flag.Bool("update", false, "rewrite golden files")

// What is written for a log reads well, and ends with the diagnosis.
func TestDump(t *testing.T) {
	clk := clocktesting.NewFakePassiveClock(at(300))
	r := newRecorder(t, Options{Clock: clk})
	c := transport.Connection{Local: "a:1", Remote: "b:443", Opened: noon, LastByte: at(100), Watches: 2, Requests: 7}
	r.ObserveTransport(transport.Event{Time: noon, Type: transport.ConnectionOpened, Connection: c})
	stall(r, configMaps)
	r.ObserveTransport(ended(180, transport.EndedServer))
	r.ObserveTransport(transport.Event{Time: at(200), Type: transport.ConnectionClosed, Reason: transport.EndedPing, Connection: c})
	pods := freshness.Informer{Version: "v1", Resource: "pods"}
	r.ObserveInformers(freshness.Event{Time: at(250), Informer: pods, Type: freshness.VerdictChanged, Verdict: freshness.Blind, Previous: freshness.Fresh, Cause: "forbidden", Reason: "grant it list and watch"})
	var got strings.Builder
	if n, err := r.WriteTo(&got); err != nil || n != int64(got.Len()) {
		t.Fatal(n, err)
	}
	const golden = "testdata/dump.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()+"\n"); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// However much there is, it fits a log line, and the diagnosis is not what is left out.
func TestDumpIsBounded(t *testing.T) {
	r := newRecorder(t, Options{Entries: 1000})
	for i := range 2000 {
		for n := range 20 {
			name := freshness.Informer{Resource: fmt.Sprintf("kind%d", n)}
			r.ObserveInformers(freshness.Event{Time: at(i), Informer: name, Type: freshness.ReadFailed, Reason: fmt.Sprint(strings.Repeat("y", 200), i)})
			r.ObserveInformers(freshness.Event{Time: at(i), Informer: name, Type: freshness.VerdictChanged, Verdict: freshness.Unreachable, Reason: fmt.Sprint(i)})
		}
	}
	text := r.Snapshot().text()
	if len(text) > dumpLimit+10 || !strings.Contains(text[strings.LastIndexByte(text, '\n'):], "diagnosis: The API server cannot be read") {
		t.Errorf("%d bytes, which end with %q", len(text), text[len(text)-200:])
	}
}

// A check that begins to fail has what is known logged, once, and is not kept waiting.
func TestDumpWhenFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var lines []string
		blocked := make(chan struct{})
		log := funcr.New(func(_, args string) {
			<-blocked
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, args)
		}, funcr.Options{})
		clk := clocktesting.NewFakePassiveClock(noon)
		r := newRecorder(t, Options{Logger: log, Clock: clk})
		stall(r, configMaps)
		var err error
		check := r.DumpWhenFailing(func(*http.Request) error { return err })
		logged := func() int {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return len(lines)
		}
		if check(nil) != nil {
			t.Fatal("a check that passes fails")
		}
		err = errors.New("stalled")
		for range 5 {
			if got := check(nil); !errors.Is(got, err) {
				t.Fatalf("got %v", got)
			}
		}
		close(blocked)
		if n := logged(); n != 1 {
			t.Fatalf("%d lines, want one", n)
		}
		if !strings.Contains(lines[0], `"because"="stalled"`) || !strings.Contains(lines[0], "resume healed it") {
			t.Errorf("the line lacks what it is for: %s", lines[0])
		}
		clk.SetTime(noon.Add(dumpAgain - 1))
		_ = check(nil)
		if n := logged(); n != 1 {
			t.Errorf("%d lines before %v were over", n, dumpAgain)
		}
		clk.SetTime(noon.Add(dumpAgain))
		_ = check(nil)
		if n := logged(); n != 2 {
			t.Errorf("%d lines, want another one", n)
		}
		time.Sleep(time.Second) // all goroutines of the bubble are gone then
	})
}
