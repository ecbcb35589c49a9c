// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// TestTransportEndsStreamsOfFactory heals an informer that a generated factory has
// made, whose ListerWatcher nobody can wrap.
func TestTransportEndsStreamsOfFactory(t *testing.T) {
	realServerTest(t)
	tw := newTwins(t, transport.Options{})
	wrapped, stock := tw.wrapped.startFactory(t), tw.stock.startFactory(t)
	old := tw.awaitStreams(t)
	tw.checkDescribed(t, old)

	silent := tw.api.Inject(tw.match("watch"), faultproxy.Silence{OnlyOpen: true})
	fault := tw.edit(t, after)
	if silent.Hits() != 2 {
		t.Errorf("silenced %d streams, want 2", silent.Hits())
	}
	poll.Until(t.Context(), longer, func() bool { return false })
	if colorIn(wrapped) == after {
		t.Fatal("the wrapped informer sees the edit: there was no fault")
	}
	cure := time.Now()
	if n := tw.transport.EndStreams(tw.kind.gvr()); n != 1 {
		t.Errorf("EndStreams has ended %d watches, want 1", n)
	}
	if !poll.Until(t.Context(), late, func() bool { return colorIn(wrapped) == after }) {
		t.Fatalf("the edit is not seen %v after EndStreams:\n%v", late, tw.wrapped.requests(""))
	}
	seen := time.Since(cure)

	tw.checkResumed(t, fault)
	tw.checkEnds(t, map[string]int{"asked": 1})
	for gvr, s := range tw.awaitStreams(t) {
		if same := s.Since.Equal(old[gvr].Since); same != (gvr != tw.kind.gvr()) {
			t.Errorf("the watch of %v is the one from before: %t", gvr, same)
		}
	}
	if colorIn(stock) == after {
		t.Error("the stock informer sees the edit: there was no fault")
	}
	results.figures(t, map[string]float64{"seen_after_cure_s": seconds(seen), "stock_blind_s": seconds(time.Since(fault))})
}

// TestTransportRecyclesConnections closes the connections of two clients. Their
// watches resume, and what else was under way fails.
func TestTransportRecyclesConnections(t *testing.T) {
	realServerTest(t)
	tw := newTwins(t, transport.Options{})
	tw.startSynced(t, nil)
	for _, w := range tw.both() {
		w.startFactory(t) // by a client of its own
	}
	streams, clients := tw.awaitStreams(t), tw.wrapped.connections()
	stockClients := tw.stock.connections()
	connections := figure(t, tw.transport, "freshwatch_transport_connections")
	if connections != 2 || len(clients) != 2 {
		t.Errorf("the wrapped config has %v connections, and the proxy sees %v, want 2, one for each client", connections, clients)
	}
	reads, writes := tw.wrapped.slowRequests(t)
	stockReads, stockWrites := tw.stock.slowRequests(t)

	begin := time.Now()
	if n := tw.transport.Recycle(); n != int(connections) {
		t.Errorf("Recycle has closed %d connections, want %v", n, connections)
	}
	if err := writes.await(t); err == nil {
		t.Error("the write that was under way has succeeded, want an error")
	}
	if err := reads.await(t); err != nil {
		t.Errorf("the read that was under way, which client-go sends again: %v", err)
	}
	tw.wrapped.await(t, after, tw.edit(t, after), late)
	resumed := time.Since(begin)
	for gvr, s := range tw.awaitStreams(t) {
		if s.Local == streams[gvr].Local || !s.Since.After(begin) {
			t.Errorf("the watch of %v is still on its connection: before %+v, now %+v", gvr, streams[gvr], s)
		}
	}
	for client := range tw.wrapped.connections() {
		if clients[client] {
			t.Errorf("the proxy still sees the connection of %s", client)
		}
	}

	stockReads.fault.Lift()
	stockWrites.fault.Lift()
	if err := errors.Join(stockReads.await(t), stockWrites.await(t)); err != nil {
		t.Errorf("the stock client's requests: %v", err)
	}
	if diff := cmp.Diff(stockClients, tw.stock.connections()); diff != "" {
		t.Errorf("the stock client's connections (-before +now):\n%s", diff)
	}
	tw.checkSame(t)
	tw.checkResumed(t, begin)
	got := tw.checkEnds(t, map[string]int{"recycled": 1 + len(factoryKinds)})
	if n := figure(t, tw.transport, "freshwatch_transport_connections_recycled_total"); n != connections {
		t.Errorf("%v connections are counted as recycled, want %v", n, connections)
	}
	results.figures(t, map[string]float64{"connections": connections, "watches": got["recycled"], "seen_after_cure_s": seconds(resumed)})
}

// request is one whose response is held back.
type request struct {
	fault *faultproxy.Injection
	done  chan error
}

// slowRequests reads and writes by the informer's client. The responses are held
// back; that to a second attempt is not.
func (w *twin) slowRequests(t *testing.T) (read, write request) {
	t.Helper()
	objects := w.client.Resource(w.server.kind.gvr()).Namespace(w.server.ns)
	send := func(verb string, do func(name string) error) request {
		m := w.match(verb)
		m.Times = 1
		r := request{fault: w.server.api.Inject(m, faultproxy.HoldHeaders{}), done: make(chan error, 1)}
		go func() { r.done <- do("object-1") }()
		awaitHits(t, r.fault, 1)
		return r
	}
	read = send("get", func(name string) error {
		_, err := objects.Get(t.Context(), name, metav1.GetOptions{})
		return err
	})
	write = send("patch", func(name string) error {
		_, err := objects.Patch(t.Context(), name, types.MergePatchType, []byte(`{"data":{"written-by":"`+w.agent+`"}}`), metav1.PatchOptions{})
		return err
	})
	return read, write
}

func (r request) await(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(patience):
		t.Fatalf("a request under %v does not end", r.fault)
		return nil
	}
}
