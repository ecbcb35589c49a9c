// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

const (
	// shortIdle and shortWatch keep these tests short. The bounds that they are about
	// grow with them.
	shortIdle  = 30 * time.Second
	shortWatch = transport.MinMaxWatch
	// starved is by how much everything may be late while informers of 5,000 objects
	// fill beside it.
	starved = 20 * time.Second
	// muchLonger is how much longer than the wrapped clients the stock one is given.
	muchLonger = 30 * time.Second
)

// TestTransportDeadUpstream loses the wire behind a proxy that goes on answering
// PINGs. The proxy has a connection to the API server for each request, as most
// have: a new watch works. Three bounds of the transport find the old one dead.
func TestTransportDeadUpstream(t *testing.T) {
	realServerTest(t)
	p := sharedPlane.Get(t)
	w := newWay(t, p, wayOptions{toServer1: true})
	e := newEdits(t, p, custom("Upstream"), p.namespace(t, word(t.Name())), edited)
	clients := []struct {
		agent  string
		opts   transport.Options
		reader reader
		bound  time.Duration
		reason string
	}{
		{
			agent: "e2e-idle", reader: nil, reason: "idle",
			opts: transport.Options{IdleTimeout: shortIdle}, bound: shortIdle,
		},
		{
			agent: "e2e-age", reader: withoutWatchList, reason: "age",
			opts: transport.Options{MaxWatch: shortWatch, Grace: time.Second}, bound: shortWatch + time.Second,
		},
		{
			// Its stream may be as old as the server pleases, but not when it is quiet.
			agent: "e2e-renewed", reader: nil, reason: "renewed",
			opts: transport.Options{MaxWatch: shortWatch}, bound: shortWatch,
		},
	}
	sides := make([]*side, len(clients), len(clients)+1)
	for i, c := range clients {
		sides[i] = wrappedSide(t, w.config(), c.agent, c.opts)
		sides[i].inform(t, c.reader, e)
	}
	stock := stockSide(t, w.config(), stockAgent)
	stock.inform(t, nil, e)
	flow(t, append(sides, stock)...)

	hole := w.back.Blackhole(faultproxy.Blackhole{Existing: true})
	fault := e.make(t)
	if hole.Hits() < len(sides)+1 {
		t.Errorf("%d connections in the black hole, want one for each watch", hole.Hits())
	}
	figures := map[string]float64{}
	for i, c := range clients {
		if !poll.Until(t.Context(), patience, sides[i].showsAll) {
			t.Errorf("%s does not show the edit after %v:\n%v", c.agent, time.Since(fault), w.told(c.agent))
			continue
		}
		took := sides[i].latest(fault)
		figures[c.agent+"_seen_s"] = seconds(took)
		if took > c.bound+starved {
			t.Errorf("%s saw the edit after %v, want at most %v:\n%v", c.agent, took, c.bound, w.told(c.agent))
		}
		if got := ends(t, sides[i].guard)["watch"]; got[c.reason] < 1 || got["ping"] > 0 {
			t.Errorf("%s: watches ended because of %v, want %q and never a PING", c.agent, got, c.reason)
		}
		if got := w.bill(c.agent, fault); got.lists != 0 || got.objects != 0 {
			t.Errorf("%s: %d lists sent %d objects again, want none:\n%v", c.agent, got.lists, got.objects, w.told(c.agent))
		}
	}
	checkStaysBlind(t, w, stock)
	results.figures(t, figures)
}

// checkStaysBlind gives a stock client much longer.
func checkStaysBlind(t *testing.T, w *way, stock *side) {
	t.Helper()
	if poll.Until(t.Context(), muchLonger, stock.showsAny) {
		t.Errorf("the stock informer has seen the edit: there was no fault; requests:\n%v", w.told(stock.agent))
	}
}

// TestTransportDeadSharedUpstream is the same with a proxy that has one connection
// to the API server for everybody. There is nothing to be had through it, for new
// clients neither, until it gives that connection up: the stream is ended in time
// and the watch is sent again and again, but only the proxy can help. Then the
// wrapped informer goes on from where it was.
func TestTransportDeadSharedUpstream(t *testing.T) {
	realServerTest(t)
	const headers = 5 * time.Second
	p := sharedPlane.Get(t)
	w := newWay(t, p, wayOptions{})
	e := newEdits(t, p, custom("SharedUpstream"), p.namespace(t, word(t.Name())), edited)
	wrapped := wrappedSide(t, w.config(), twinAgent, transport.Options{IdleTimeout: shortIdle, HeaderTimeout: headers})
	stock := stockSide(t, w.config(), stockAgent)
	wrapped.inform(t, nil, e)
	stock.inform(t, nil, e)
	flow(t, wrapped, stock)

	w.back.Blackhole(faultproxy.Blackhole{Existing: true})
	fault := e.make(t)
	ended := func(reason string, n int) func() bool {
		return func() bool { return ends(t, wrapped.guard)["watch"][reason] >= float64(n) }
	}
	if !poll.Until(t.Context(), shortIdle+starved, ended("idle", 1)) {
		t.Errorf("the dead stream was not ended within %v: %v", time.Since(fault), ends(t, wrapped.guard))
	}
	idleAfter := time.Since(fault)
	if err := list(t, stockSide(t, w.config(), "e2e-newcomer"), e, headers); err == nil {
		t.Error("a new client gets an answer: the proxy's connection is not the only one")
	}
	if wrapped.showsAny() || stock.showsAny() {
		t.Error("the edit came through a dead connection")
	}
	// Between two of the attempts. One that is under way when the proxy learns of the
	// dead connection is answered with 502, after which reflectors list.
	tries := int(ends(t, wrapped.guard)["watch"]["headers"])
	if !poll.Until(t.Context(), 2*headers+starved, ended("headers", max(2, tries+1))) {
		t.Errorf("the watch was not sent again and again within %v: %v", time.Since(fault), ends(t, wrapped.guard))
	}
	w.back.Reset() // the proxy learns that its connection is dead
	mended := time.Now()
	if !poll.Until(t.Context(), patience, wrapped.showsAll) {
		t.Fatalf("the edit is not there %v after the proxy was mended:\n%v", time.Since(mended), w.told(twinAgent))
	}
	took := wrapped.latest(mended)
	if took > headers+starved {
		t.Errorf("the edit was seen %v after the proxy was mended, want at most %v", took, headers)
	}
	if err := list(t, stockSide(t, w.config(), "e2e-latecomer"), e, patience); err != nil {
		t.Errorf("a new client gets no answer after the proxy was mended: %v", err)
	}
	if !poll.Until(t.Context(), patience, stock.showsAll) {
		t.Errorf("the stock informer did not see the edit after the proxy was mended")
	}
	if got := w.bill(twinAgent, fault); got.lists != 0 && got.refused == 0 {
		t.Errorf("%d lists sent %d objects again, want none:\n%v", got.lists, got.objects, w.told(twinAgent))
	}
	if got := w.bill(stockAgent, fault); got.lists == 0 {
		t.Errorf("the stock client did not list again, as it does after an error:\n%v", w.told(stockAgent))
	}
	results.figures(t, map[string]float64{"idle_end_s": seconds(idleAfter), "seen_after_mending_s": seconds(took)})
}

// list asks for the edited objects, once.
func list(t *testing.T, s *side, e *edits, limit time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	lw := s.listerWatcher(t, e, withoutWatchList).(listFirst)
	_, err := lw.ListWithContext(ctx, metav1.ListOptions{})
	return err
}
