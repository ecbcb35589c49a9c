// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/transport"
)

// heap returns the bytes that are in use.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc) //nolint:gosec // no such machine
}

// Memory stays within what is stated, whatever happens: every ring full of the longest
// texts, an incident of every informer, and more than is kept.
func TestMemoryIsBounded(t *testing.T) {
	const informers = 1000
	before := heap()
	r := newRecorder(t, Options{Informers: informers})
	names := make([]freshness.Informer, informers)
	for n := range names {
		names[n] = freshness.Informer{Group: "example.com", Version: "v1", Resource: fmt.Sprintf("kind%d", n), Namespace: "some-namespace"}
	}
	for i := range DefaultEntries + 10 {
		reason := fmt.Sprint(i, strings.Repeat("x", 500))
		for _, name := range names {
			e := freshness.Event{Time: at(i), Informer: name, Type: freshness.VerdictChanged, Verdict: freshness.Stalled, Previous: freshness.Suspect, Reason: reason}
			r.ObserveInformers(e)
			e.Type = freshness.CureStarted
			if i < 20 {
				r.ObserveInformers(e)
			}
		}
	}
	for i := range 1000 {
		r.ObserveTransport(transport.Event{Time: at(i), Type: transport.ConnectionClosed, Reason: transport.EndedPing, Connection: transport.Connection{Local: fmt.Sprintf("10.0.0.1:%d", i), Remote: "b:443"}})
	}
	used, limit := heap()-before, informers*BytesPerInformer+1<<20
	t.Logf("%d bytes in all, %d per informer, limit %d", used, used/informers, limit)
	if used > limit {
		t.Errorf("%d bytes are used, more than %d", used, limit)
	}
	if used < limit/10 {
		t.Errorf("only %d bytes are used: this test does not fill what it should", used)
	}
	runtime.KeepAlive(r)
}

// What it takes when all is well: an entry for each watch, and proofs.
func TestMemoryOfQuietInformers(t *testing.T) {
	const informers = 1000
	before := heap()
	r := newRecorder(t, Options{})
	for i := range 20 {
		for n := range informers {
			name := freshness.Informer{Version: "v1", Resource: fmt.Sprintf("kind%d", n)}
			r.ObserveInformers(freshness.Event{Time: at(60 * i), Informer: name, Type: freshness.Read, ResourceVersion: "1"})
			r.ObserveInformers(freshness.Event{Time: at(60 * i), Informer: name, Type: freshness.Proven})
			if i%3 == 0 {
				e := ended(60*i, transport.EndedServer)
				e.Stream.GVR.Resource, e.Stream.Namespace = name.Resource, ""
				r.ObserveTransport(e)
			}
		}
	}
	used := heap() - before
	t.Logf("%d bytes per informer after 20 minutes", used/informers)
	if used > informers*BytesPerInformer/4 {
		t.Errorf("%d bytes per informer, more than a quarter of the bound", used/informers)
	}
	runtime.KeepAlive(r)
}

// A proof, of which there is one a minute for each informer, allocates nothing.
func TestProofsAllocateNothing(t *testing.T) {
	r := newRecorder(t, Options{})
	e := freshness.Event{Time: noon, Informer: configMaps, Type: freshness.Proven, FreshAsOf: noon}
	if n := testing.AllocsPerRun(1000, func() { r.ObserveInformers(e) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkObserveProof(b *testing.B) {
	r, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	e := freshness.Event{Time: noon, Informer: configMaps, Type: freshness.Proven, FreshAsOf: noon}
	for b.Loop() {
		r.ObserveInformers(e)
	}
}
