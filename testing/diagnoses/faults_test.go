// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package diagnoses

import (
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
	"github.com/freshwatch/freshwatch/transport"
)

// Patterns of what differs from run to run.
const (
	endsOf = `127\.0\.0\.1:\d+ to 127\.0\.0\.1:\d+`
	moment = `\d\d:\d\d:\d\dZ`
	took   = `[0-9.hms]+`
)

// says fails unless the sentence is of that form, in which %of stands for the informer,
// %ends for a connection, %at for a time, %took for a duration and %n for a number.
func (o *operator) says(i flightrecorder.Incident, layer flightrecorder.Layer, sentence string) {
	o.t.Helper()
	pattern := strings.NewReplacer("%of", regexp.QuoteMeta(o.of()), "%ends", endsOf, "%at", moment, "%took", took, "%n", `\d+`).Replace(regexp.QuoteMeta(sentence))
	pattern = strings.ReplaceAll(pattern, `\.\*`, `.*`)
	if !regexp.MustCompile("^" + pattern + "$").MatchString(i.Diagnosis) {
		o.t.Errorf("it says\n%s\nwant\n%s", i.Diagnosis, sentence)
	}
	if i.Layer != layer {
		o.t.Errorf("layer %v, want %v", i.Layer, layer)
	}
}

// ours tells whether an incident is that of the informer which the faults are about, and
// over.
func (o *operator) ours(over bool) func(flightrecorder.Incident) bool {
	return func(i flightrecorder.Incident) bool {
		return i.Informer.Resource == "configmaps" && i.Open() != over
	}
}

// wantWatch fails unless the evidence says which watch it was, and when it fell silent.
func (o *operator) wantWatch(i flightrecorder.Incident, fault time.Time) {
	o.t.Helper()
	w := i.Evidence.Watch
	if w.Local == "" || w.Remote != o.tcp.Addr() || w.Protocol != "HTTP/2.0" || w.Since.IsZero() || w.Answered.Before(w.Since) {
		o.t.Errorf("the watch is %+v", w)
	}
	if w.LastByte.IsZero() || w.LastByte.After(fault.Add(time.Second)) || w.Bytes == 0 {
		o.t.Errorf("its last byte of %d came at %v, want before the fault at %v", w.Bytes, w.LastByte, fault)
	}
}

// quick has proofs four times a minute, so that tests take no longer than they have to.
var quick = freshness.Options{MaxStaleness: freshness.MinMaxStaleness}

// Layer: one stream. An HTTP/2 proxy loses it; the others on its connection go on.
func TestSilentStream(t *testing.T) {
	realplane.Test(t)
	o := newOperator(t, sharedPlane.Get(t), options{})
	silenced := o.api.Inject(faultproxy.Match{Verb: "watch", Resource: "configmaps", Namespace: o.ns}, faultproxy.Silence{OnlyOpen: true})
	fault := time.Now()
	if silenced.Hits() != 1 {
		t.Fatalf("silenced %d streams", silenced.Hits())
	}
	o.edit("second")
	i := o.incident("the stall is over", o.ours(true))
	o.says(i, flightrecorder.LayerStream, "The watch of %of over %ends fell silent at %at while 2 of 2 other watches on its connection went on: "+
		"this one stream was lost, by something on the way that forwards streams one by one (a proxy, a load balancer) or by the API server; resume healed it, %took after its last sign of life.")
	o.wantWatch(i, fault)
	ev := i.Evidence
	if ev.Server.State != freshness.ServerReached || !ev.Server.SameConnection || ev.SameConnection != (flightrecorder.Neighbours{Watches: 2, Alive: 2}) {
		t.Errorf("evidence %+v", ev)
	}
	if ev.By != "event" || ev.Moved.IsZero() || len(ev.Cures) != 1 || !ev.Cures[0].Worked || ev.Informers.Some != 1 {
		t.Errorf("evidence %+v", ev)
	}
	if !o.has("second") {
		t.Error("the edit is not in the cache")
	}
}

// Layer: the connection. It becomes a black hole, and the far end a stranger to PINGs.
func TestBlackHoledConnection(t *testing.T) {
	realplane.Test(t)
	o := newOperator(t, sharedPlane.Get(t), options{direct: true, transport: transport.Options{ReadIdleTimeout: 2 * time.Second, PingTimeout: 2 * time.Second}})
	hole := o.tcp.Blackhole(faultproxy.Blackhole{Existing: true})
	fault := time.Now()
	i := o.incident("a connection is lost", func(i flightrecorder.Incident) bool { return i.Informer.Resource == "" })
	o.says(i, flightrecorder.LayerConnection, "The connection %ends brought nothing since %at and did not answer a PING: a load balancer, a NAT or a firewall dropped it without FIN or RST, or the far end stands still; it was given up, with %n watch.*.")
	if w := i.Evidence.Watch; w.Remote != o.tcp.Addr() || w.LastByte.After(fault.Add(time.Second)) || !i.Evidence.PingLost || i.Evidence.Carried < 1 || i.Evidence.Carried > 3 {
		t.Errorf("evidence %+v", i.Evidence)
	}
	if hole.Hits() == 0 {
		t.Error("no connection is in the hole")
	}
	o.edit("second")
	await(t, "the watches go on", func() bool { return o.has("second") })
}

// Layer: the path. A proxy answers PINGs, and has lost the API server: every request and
// every watch hangs.
func TestProxyWithoutUpstream(t *testing.T) {
	realplane.Test(t)
	o := newOperator(t, sharedPlane.Get(t), options{freshness: quick})
	hang := o.api.Inject(faultproxy.Match{}, faultproxy.Silence{})
	held := o.api.Inject(faultproxy.Match{}, faultproxy.HoldHeaders{})
	fault := time.Now()
	i := o.incident("it cannot be reached", func(i flightrecorder.Incident) bool { return o.ours(false)(i) && i.Verdict == freshness.Unreachable })
	o.says(i, flightrecorder.LayerPath, "Nothing but answers to PINGs has come over the connection %ends since %at: whatever answers them, a proxy or a load balancer, has lost its way to the API server, so that %of can be neither watched nor read.*.")
	o.wantWatch(i, fault)
	if ev := i.Evidence; ev.Cause != "unreachable" || ev.ReadsFailed == 0 || ev.SameConnection.Alive != 0 || ev.PingLost {
		t.Errorf("evidence %+v", ev)
	}
	hang.Lift()
	held.Lift()
	o.edit("second")
	await(t, "it recovers", func() bool { return o.has("second") && o.recorder.Snapshot().Healthy })
}

// Layer: the path. Nobody listens any more.
func TestRefusedConnections(t *testing.T) {
	realplane.Test(t)
	o := newOperator(t, sharedPlane.Get(t), options{freshness: quick})
	refusal := o.tcp.Refuse()
	o.tcp.Reset()
	i := o.incident("it cannot be reached", func(i flightrecorder.Incident) bool { return o.ours(false)(i) && i.Verdict == freshness.Unreachable })
	o.says(i, flightrecorder.LayerPath, "No connection to the API server at "+o.tcp.Addr()+" can be opened (.*): it is down, or the network does not let this process through; this says nothing about the cache of %of but that it gets no older than that.*.")
	if ev := i.Evidence; ev.DialsFailed == 0 || ev.Cause != "unreachable" {
		t.Errorf("evidence %+v", ev)
	}
	refusal.Lift()
}

// Layer: the server. Its watch cache of one kind is frozen, since the datastore's watch is
// dead.
func TestFrozenWatchCache(t *testing.T) {
	realplane.Test(t)
	o := newOperator(t, realplane.Own(t, start), options{freshness: quick})
	o.plane.Etcd.FreezeWatches("/registry/configmaps/")
	// What the operator writes itself has to come, even on a datastore without progress.
	rv := o.edit("second")
	o.monitor.Wrote(freshness.Informer{Version: "v1", Resource: "configmaps", Namespace: o.ns}, o.ns+"/edited", rv)
	i := o.incident("the server is named", func(i flightrecorder.Incident) bool {
		return o.ours(false)(i) && i.Verdict == freshness.ControlPlaneStalled
	})
	o.says(i, flightrecorder.LayerServer, "The API server's own watch cache of %of stands still at %n while its datastore is at %n: its datastore's watch is dead, every watch and every new process is as stale as this one, and a restart does not help.*.")
	if ev := i.Evidence; ev.Server.State != freshness.ServerFrozen || ev.Server.ResourceVersion == "" || ev.Read == "" || ev.OtherConnections.Watches+ev.SameConnection.Watches != 2 {
		t.Errorf("evidence %+v", ev)
	}
}

// Layer: the contents. The stream moves on, and events of it are lost.
func TestLostEvents(t *testing.T) {
	realplane.Test(t)
	opts := quick
	opts.Audit.Every = time.Minute
	o := newOperator(t, sharedPlane.Get(t), options{freshness: opts})
	lost := o.api.Inject(faultproxy.Match{Verb: "watch", Resource: "configmaps", Namespace: o.ns}, faultproxy.DropEvents{Name: "edited", N: 1})
	o.edit("second")
	await(t, "the event is lost", func() bool { return lost.Hits() == 1 })
	o.write("another", "one") // which takes the stream past it
	i := o.incident("it is found and healed", o.ours(true))
	o.says(i, flightrecorder.LayerContents, "The watch of %of moves on, but 1 of %n objects differ from the API server's: events were lost on the way; .*.")
	if ev := i.Evidence; i.Verdict != freshness.Diverged || ev.Objects.Some != 1 || ev.Objects.Of == 0 {
		t.Errorf("evidence %+v", ev)
	}
	await(t, "the edit is in the cache", func() bool { return o.has("second") })
}

// Layer: permission. Somebody takes the right to list and watch.
func TestRevokedRights(t *testing.T) {
	realplane.Test(t)
	o := newOperator(t, sharedPlane.Get(t), options{freshness: quick})
	o.permit("get")
	i := o.incident("it is blind", func(i flightrecorder.Incident) bool { return o.ours(false)(i) && i.Verdict == freshness.Blind })
	o.says(i, flightrecorder.LayerPermission, "%of cannot be watched: this program may not read this kind, grant it list and watch: .*.")
	if ev := i.Evidence; ev.Cause != "forbidden" || ev.Reason == "" {
		t.Errorf("evidence %+v", ev)
	}
	o.permit("list", "watch")
	await(t, "it recovers", func() bool { return o.recorder.Snapshot().Healthy })
}

// Layer: the credential. Every request is answered with 401.
func TestDeadCredential(t *testing.T) {
	realplane.Test(t)
	o := newOperator(t, sharedPlane.Get(t), options{freshness: quick})
	refused := o.api.Inject(faultproxy.Match{}, faultproxy.Status{Code: 401})
	o.tcp.Reset()
	i := o.incident("it is refused", func(i flightrecorder.Incident) bool {
		return o.ours(false)(i) && i.Layer == flightrecorder.LayerCredential
	})
	o.says(i, flightrecorder.LayerCredential, "The API server does not accept this process's credential any more (.* of 401), so that %of cannot be watched.*.")
	if ev := i.Evidence; ev.Refused == 0 || ev.Cause != "unauthorized" {
		t.Errorf("evidence %+v", ev)
	}
	refused.Lift()
	await(t, "it recovers", func() bool { return o.recorder.Snapshot().Healthy })
}

// Layer: this process. A handler does not return, while the cache is fresh.
func TestBlockedHandler(t *testing.T) {
	realplane.Test(t)
	free := make(chan struct{})
	o := newOperator(t, sharedPlane.Get(t), options{handler: func(obj any) {
		if cm, ok := obj.(*corev1.ConfigMap); ok && cm.Data["content"] == "second" {
			<-free
		}
	}})
	o.edit("second")
	i := o.incident("the handler is named", o.ours(false))
	o.says(i, flightrecorder.LayerProcess, "An event handler of %of does not return, though its cache is fresh: something in this process blocks it, and only a restart helps.")
	if ev := i.Evidence; ev.Behind != freshness.LevelHandlers || !o.has("second") {
		t.Errorf("evidence %+v", ev)
	}
	close(free)
	o.incident("it is over", o.ours(true))
}

// Layer: the server. It stands still: connections are taken, and nothing answers.
func TestServerStandsStill(t *testing.T) {
	realplane.Test(t)
	p := realplane.Own(t, start)
	o := newOperator(t, p, options{direct: true, freshness: quick, transport: transport.Options{ReadIdleTimeout: 2 * time.Second, PingTimeout: 2 * time.Second}})
	if err := p.Pause(t.Context(), controlplane.APIServer); err != nil {
		t.Fatal(err)
	}
	i := o.incident("it cannot be reached", func(i flightrecorder.Incident) bool { return o.ours(false)(i) && i.Verdict == freshness.Unreachable })
	if err := p.Resume(controlplane.APIServer); err != nil {
		t.Fatal(err)
	}
	o.says(i, flightrecorder.LayerPath, "The connection %ends did not answer a PING, and nothing has answered for %of since %at: the API server stands still, or the network drops what is sent to it.*.")
	if ev := i.Evidence; !ev.PingLost || ev.ReadsFailed == 0 {
		t.Errorf("evidence %+v", ev)
	}
	await(t, "it recovers", func() bool { return o.recorder.Snapshot().Healthy })
}

// Nothing happens for a while, but what always does: edits, and watches that end. Nothing
// is said.
func TestNothingToSay(t *testing.T) {
	realplane.Test(t)
	o := newOperator(t, sharedPlane.Get(t), options{freshness: quick, transport: transport.Options{MaxWatch: transport.MinMaxWatch}})
	for k := range 60 {
		o.edit(string(rune('a' + k%26)))
		poll.Until(t.Context(), time.Second, func() bool { return false })
	}
	if got := o.incidents(); len(got) != 0 || len(o.told.all) != 0 {
		t.Errorf("incidents:\n%s", o.texts())
	}
	ended := false
	for _, i := range o.recorder.Snapshot().Informers {
		for _, e := range i.Log {
			ended = ended || strings.HasPrefix(e.What, "watch over ")
		}
	}
	if !ended {
		t.Error("no watch has ended: this was not what always happens")
	}
}
