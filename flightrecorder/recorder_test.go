// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/transport"
)

func newRecorder(t *testing.T, opts Options) *Recorder {
	t.Helper()
	if opts.Clock == nil {
		opts.Clock = clocktesting.NewFakePassiveClock(noon)
	}
	r, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		opts Options
		want string
	}{
		{Options{}, ""},
		{Options{Informers: -1}, "flightrecorder: Options.Informers is -1, but must be at least 1 and at most 100000 (it bounds memory)"},
		{Options{Entries: 7}, "flightrecorder: Options.Entries is 7, but must be at least 8 and at most 1000 (it bounds memory)"},
		{Options{Incidents: 1001}, "flightrecorder: Options.Incidents is 1001, but must be at least 1 and at most 1000 (it bounds memory)"},
	} {
		got := ""
		if _, err := New(tt.opts); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("New(%+v): %q, want %q", tt.opts, got, tt.want)
		}
	}
	r := newRecorder(t, Options{})
	if err := errors.Join(r.Attach(Sources{})); err != nil {
		t.Error(err)
	}
	if err := r.Attach(Sources{}); err == nil {
		t.Error("a second Attach passed")
	}
}

// stall is what package freshness tells of a stream that goes silent and is resumed.
func stall(r *Recorder, informer freshness.Informer) {
	tell := func(seconds int, e freshness.Event) {
		e.Time, e.Informer = at(seconds), informer
		r.ObserveInformers(e)
	}
	w := freshness.Watch{Open: true, Since: noon, Answered: noon, Local: "a:1", Remote: "b:443"}
	tell(0, freshness.Event{Type: freshness.WatchBegan, Watch: w})
	tell(1, freshness.Event{Type: freshness.VerdictChanged, Verdict: freshness.Fresh, Previous: freshness.Syncing})
	tell(60, freshness.Event{Type: freshness.Read, ResourceVersion: "200"})
	tell(63, freshness.Event{Type: freshness.VerdictChanged, Verdict: freshness.Suspect, Previous: freshness.Fresh, Reason: "overdue", Watch: w, ResourceVersion: "100", Moved: at(5), ByEvent: true})
	tell(63, freshness.Event{Type: freshness.ServerAsked, Server: freshness.ServerReached, ResourceVersion: "200", SameConnection: true})
	tell(64, freshness.Event{Type: freshness.VerdictChanged, Verdict: freshness.Stalled, Previous: freshness.Suspect, Reason: "dead", Watch: w, ResourceVersion: "100"})
	tell(64, freshness.Event{Type: freshness.CureStarted, Cure: freshness.Resume, Verdict: freshness.Stalled, Watch: w})
	tell(65, freshness.Event{Type: freshness.WatchBegan, Watch: freshness.Watch{Open: true, Since: at(64), Local: "a:1", Remote: "b:443"}})
	tell(66, freshness.Event{Type: freshness.CureProven, Cure: freshness.Resume})
	tell(66, freshness.Event{Type: freshness.Proven, FreshAsOf: at(60)})
	tell(66, freshness.Event{Type: freshness.VerdictChanged, Verdict: freshness.Fresh, Previous: freshness.Stalled})
}

func TestIncidentOfAnInformer(t *testing.T) {
	var told []Incident
	r := newRecorder(t, Options{OnIncident: func(i Incident) { told = append(told, i) }})
	stall(r, configMaps)
	want := Incident{
		ID: 1, Informer: configMaps, Began: at(63), Ended: at(66), Verdict: freshness.Stalled, Layer: LayerStream,
		Diagnosis: "The watch of configmaps/v1 in default over a:1 to b:443 fell silent at 12:00:00Z while the API server answered over that very connection: this one stream was lost, by something on the way that forwards streams one by one (a proxy, a load balancer) or by the API server; resume healed it, 66s after its last sign of life.",
		Evidence: Evidence{
			Reason: "dead", Watch: Watch{Open: true, Since: noon, Answered: noon, Local: "a:1", Remote: "b:443"},
			Store: "100", Moved: at(5), By: "event", Read: "200", ReadAt: at(60),
			Server:    ServerAnswer{Time: at(63), State: freshness.ServerReached, ResourceVersion: "200", SameConnection: true},
			Informers: Share{1, 1}, Cures: []Cure{{Cure: freshness.Resume, At: at(64), Worked: true, Done: at(66)}},
		},
	}
	if diff := cmp.Diff([]Incident{want}, r.Incidents(), cmp.AllowUnexported(Incident{}), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".worth" }, cmp.Ignore())); diff != "" {
		t.Errorf("incidents (-want +got):\n%s", diff)
	}
	if len(told) != 2 || !told[0].Open() || told[0].Layer != LayerStream || told[1].Open() {
		t.Errorf("told of %d incidents, want one that begins and one that is over: %+v", len(told), told)
	}
	got := r.Snapshot()
	if !got.Healthy || !strings.HasPrefix(got.Diagnosis, "The one informer is fresh; last, ") {
		t.Errorf("healthy %v: %s", got.Healthy, got.Diagnosis)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Error(err)
	}
}

// A suspicion that comes to nothing is no incident, and a renewed watch that brings what
// was owed is one.
func TestSuspicions(t *testing.T) {
	r := newRecorder(t, Options{OnIncident: func(i Incident) {
		if len(i.Evidence.Cures) == 0 {
			t.Errorf("told of a suspicion: %+v", i)
		}
	}})
	tell := func(seconds int, e freshness.Event) {
		e.Time, e.Informer = at(seconds), configMaps
		r.ObserveInformers(e)
	}
	tell(1, freshness.Event{Type: freshness.VerdictChanged, Verdict: freshness.Suspect, Previous: freshness.Fresh})
	tell(2, freshness.Event{Type: freshness.VerdictChanged, Verdict: freshness.Fresh, Previous: freshness.Suspect})
	if got := r.Incidents(); len(got) != 0 {
		t.Fatalf("a suspicion is an incident: %+v", got)
	}
	r.ObserveTransport(ended(30, transport.EndedClient))
	tell(31, freshness.Event{Type: freshness.WatchBegan, Watch: freshness.Watch{Since: at(30)}})
	tell(32, freshness.Event{Type: freshness.CureProven, Cure: freshness.Resume})
	got := r.Incidents()
	if len(got) != 1 || got[0].Open() || !got[0].Evidence.Watch.LastByte.Equal(at(10)) {
		t.Fatalf("want one incident, about the watch that was renewed: %+v", got)
	}
	if want := "; resume healed it, 22s after its last sign of life."; !strings.HasSuffix(got[0].Diagnosis, want) {
		t.Errorf("%s\ndoes not end with %s", got[0].Diagnosis, want)
	}
}

// ended is what package transport tells of the end of a watch on configMaps.
func ended(seconds int, reason transport.EndReason) transport.Event {
	return transport.Event{Time: at(seconds), Type: transport.StreamEnded, Verb: "watch", Reason: reason, Status: 200, Stream: transport.Stream{
		GVR: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Namespace: "default", Since: noon, Answered: noon,
		Protocol: "HTTP/2.0", LastByte: at(10), Bytes: 1234, Local: "a:1", Remote: "b:443",
	}}
}

func TestConnections(t *testing.T) {
	r := newRecorder(t, Options{})
	c := transport.Connection{Local: "a:1", Remote: "b:443", Opened: noon, LastByte: at(20), Watches: 3, Requests: 9, Protocol: "HTTP/2.0"}
	r.ObserveTransport(transport.Event{Time: noon, Type: transport.ConnectionOpened, Connection: c})
	r.ObserveTransport(ended(31, transport.EndedServer))
	r.ObserveTransport(transport.Event{Time: at(35), Type: transport.ConnectionClosed, Reason: transport.EndedPing, Connection: c})
	r.ObserveTransport(transport.Event{Time: at(36), Type: transport.ConnectionClosed, Reason: transport.EndedConnection, Connection: c})
	r.ObserveTransport(transport.Event{Time: at(37), Type: transport.DialFailed, Connection: transport.Connection{Remote: "b:443"}})
	r.ObserveTransport(transport.Event{Time: at(38), Type: transport.DialFailed, Connection: transport.Connection{Remote: "b:443"}})
	s := r.Snapshot()
	if len(s.Incidents) != 1 || s.Incidents[0].Layer != LayerConnection || !s.Incidents[0].Began.Equal(at(20)) || s.Incidents[0].Evidence.Carried != 3 {
		t.Errorf("want one incident, since the last byte, of a connection that did not answer: %+v", s.Incidents)
	}
	want := []Entry{
		{Time: noon, Count: 1, What: "opened a:1 to b:443"},
		{Time: at(35), Count: 1, What: "closed a:1 to b:443: ping, it had carried 9 requests"},
		{Time: at(36), Count: 1, What: "closed a:1 to b:443: connection, it had carried 9 requests"},
		{Time: at(37), Until: at(38), Count: 2, What: "no connection to b:443"},
	}
	if diff := cmp.Diff(want, s.Log); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	want = []Entry{{Time: at(31), Count: 1, What: "watch over a:1 to b:443 ended after 31s by server; 1234 bytes, the last 21s before"}}
	if diff := cmp.Diff(want, s.Informers[0].Log); diff != "" {
		t.Errorf("the informer's log (-want +got):\n%s", diff)
	}
}

func TestHandlersThatBlock(t *testing.T) {
	r := newRecorder(t, Options{})
	tell := func(seconds int, behind freshness.Level) {
		r.ObserveInformers(freshness.Event{Time: at(seconds), Informer: configMaps, Type: freshness.LevelChanged, Behind: behind})
	}
	r.ObserveInformers(freshness.Event{Time: noon, Informer: configMaps, Type: freshness.VerdictChanged, Verdict: freshness.Fresh})
	tell(30, freshness.LevelHandlers)
	s := r.Snapshot()
	if s.Healthy || len(s.Incidents) != 1 || s.Incidents[0].Layer != LayerProcess || !strings.HasPrefix(s.Diagnosis, "An event handler of configmaps/v1 in default does not return") {
		t.Errorf("healthy %v, %s, %+v", s.Healthy, s.Diagnosis, s.Incidents)
	}
	tell(40, freshness.LevelNone)
	if s := r.Snapshot(); !s.Healthy || s.Incidents[0].Open() {
		t.Errorf("it goes on: %+v", s)
	}
}

func TestForgetsInformers(t *testing.T) {
	r := newRecorder(t, Options{Informers: 3})
	for i, name := range []string{"a", "b", "c", "a", "d"} {
		r.ObserveInformers(freshness.Event{Time: at(i), Informer: freshness.Informer{Resource: name}, Type: freshness.Proven})
	}
	var names []string
	for _, i := range r.Snapshot().Informers {
		names = append(names, i.Name)
	}
	if diff := cmp.Diff([]string{"a", "c", "d"}, names); diff != "" {
		t.Errorf("b, of which nothing was heard for the longest, should be gone (-want +got):\n%s", diff)
	}
}

func TestIncidentsAreBounded(t *testing.T) {
	r := newRecorder(t, Options{Incidents: 4})
	for range 10 {
		stall(r, configMaps)
	}
	got := r.Incidents()
	if len(got) != 4 || got[0].ID != 10 || got[3].ID != 7 {
		t.Errorf("want those of 10 to 7, got %d: %+v", len(got), got)
	}
	if took := got[0].Ended.Sub(got[0].Began); took != 3*time.Second {
		t.Errorf("took %v", took)
	}
}
