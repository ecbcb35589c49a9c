// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// TestTransportFailsListThatHangs has a server that accepts lists and never
// answers them.
func TestTransportFailsListThatHangs(t *testing.T) {
	realServerTest(t)
	const limit = 5 * time.Second // ListTimeout
	tw := newTwins(t, transport.Options{ListTimeout: limit})
	hanging := tw.api.Inject(tw.match("list"), faultproxy.HangList{})
	begin := time.Now()
	tw.start(t, withoutWatchList)
	if !poll.Until(t.Context(), 3*limit+patience, func() bool { return len(tw.wrapped.errors()) >= 3 }) {
		t.Fatalf("the wrapped informer has failed %d times in %v:\n%v", len(tw.wrapped.errors()), time.Since(begin), tw.wrapped.requests(""))
	}
	for i, err := range tw.wrapped.errors() {
		if !errors.Is(err, transport.ErrListStalled) {
			t.Errorf("failure %d is %v, want %v", i, err, transport.ErrListStalled)
		}
	}
	for _, r := range tw.wrapped.requests("list") {
		if over := r.Duration - limit; !r.Open && (over < -early || over > late) {
			t.Errorf("a list took %v to fail, want %v", r.Duration, limit)
		}
	}
	blind := time.Since(begin)
	if n := len(tw.stock.requests("")); tw.stock.HasSynced() || len(tw.stock.errors()) > 0 || n != 1 {
		t.Errorf("the stock informer has synced (%t), failed (%v) or sent %d requests, want it to hang in its first",
			tw.stock.HasSynced(), tw.stock.errors(), n)
	}

	lifted := time.Now()
	hanging.Lift()
	if !poll.Until(t.Context(), patience, func() bool { return tw.wrapped.HasSynced() && tw.stock.HasSynced() }) {
		t.Fatalf("not synced %v after the fault: %v", patience, tw.wrapped.errors())
	}
	tw.checkSame(t)
	results.figures(t, map[string]float64{
		"stalled": ends(t, tw.transport)["list"]["stalled"], "stock_hung_s": seconds(blind), "synced_after_lift_s": seconds(time.Since(lifted)),
	})
}

// TestTransportFailsListThatStops has a list stop in the middle of its body, on a
// connection that PINGs do not end before.
func TestTransportFailsListThatStops(t *testing.T) {
	realServerTest(t)
	const limit = 5 * time.Second // ListTimeout
	tw := newTwins(t, transport.Options{ListTimeout: limit, ReadIdleTimeout: time.Minute})
	tw.plane.fill(t, tw.ns, population, 1000)
	size := tw.listSize(t)
	failures, stopped := map[*twin]chan error{}, map[*twin]time.Time{}
	for _, w := range tw.both() {
		line := tw.slowLine(t, w, size/8) // 8 s
		client := dynamicClient(t, w.config).Resource(tw.kind.gvr()).Namespace(tw.ns)
		failed := make(chan error, 1)
		failures[w] = failed
		go func() {
			_, err := client.List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
			failed <- err
		}()
		if !poll.Until(t.Context(), patience, func() bool { return passed(line) > size/4 }) {
			t.Fatalf("%s: the list does not come", w.agent)
		}
		line.Blackhole(faultproxy.Blackhole{})
		stopped[w] = time.Now()
	}

	select {
	case err := <-failures[tw.wrapped]:
		var stalled *transport.ListStalledError
		if !errors.As(err, &stalled) || !errors.Is(err, transport.ErrListStalled) {
			t.Fatalf("the list fails with %v, want a *ListStalledError", err)
		}
		if stalled.GVR != tw.kind.gvr() || stalled.Namespace != tw.ns || stalled.Limit != limit || stalled.Bytes == 0 || stalled.Bytes >= size {
			t.Errorf("the error says %+v, want %v in %s, %v, and some of %d bytes", stalled, tw.kind.gvr(), tw.ns, limit, size)
		}
	case <-time.After(limit + late):
		t.Error("the list does not fail")
	}
	failed := time.Since(stopped[tw.wrapped])
	select {
	case err := <-failures[tw.stock]:
		t.Errorf("the stock list ended: %v", err)
	case <-time.After(2 * limit):
	}
	results.figures(t, map[string]float64{"failed_s": seconds(failed), "stock_hung_s": seconds(time.Since(stopped[tw.stock]))})
}

// TestTransportLetsSlowFillingsFinish has informers filled over a line so slow
// that it takes longer than any deadline, though it always moves.
func TestTransportLetsSlowFillingsFinish(t *testing.T) {
	realServerTest(t)
	p := sharedPlane.Get(t)
	ns, n := p.namespace(t, "twins"), manyObjects(t)
	p.fill(t, ns, 0, n)
	t.Run("list", func(t *testing.T) {
		t.Parallel()
		fillByList(t, newTwinsIn(t, p, ns, transport.Options{ListTimeout: 5 * time.Second}), n)
	})
	t.Run("initial events", func(t *testing.T) {
		t.Parallel()
		fillByWatch(t, newTwinsIn(t, p, ns, transport.Options{MaxWatch: transport.MinMaxWatch}), n)
	})
}

// fillByList takes several times the ListTimeout of 5 s.
func fillByList(t *testing.T, tw *twins, n int) {
	t.Helper()
	const takes = 25 * time.Second
	size := tw.listSize(t)
	for _, w := range tw.both() {
		tw.slowLine(t, w, size/int64(takes/time.Second))
	}
	begin := time.Now()
	tw.start(t, withoutWatchList)
	synced := awaitSync(t, tw, 2*takes+patience)

	checkWhole(t, tw, "list", n)
	if took := synced[tw.wrapped].Sub(begin); took < takes/2 {
		t.Errorf("the list took %v, want about %v: the line was not slow", took, takes)
	}
	if got := ends(t, tw.transport)["list"]; len(got) != 1 || got["server"] != 1 {
		t.Errorf("lists have ended %v, want one by the server", got)
	}
	results.figures(t, map[string]float64{
		"objects": float64(n), "bytes": float64(size), "wrapped_s": seconds(synced[tw.wrapped].Sub(begin)), "stock_s": seconds(synced[tw.stock].Sub(begin)),
	})
}

// fillByWatch takes longer than a watch may, and would have to begin anew. Past
// that moment, the lines hesitate.
func fillByWatch(t *testing.T, tw *twins, n int) {
	t.Helper()
	const (
		bound      = transport.MinMaxWatch
		takes      = bound + 15*time.Second
		hesitation = 6 * time.Second
	)
	size := tw.watchListSize(t)
	var lines []*faultproxy.TCP
	for _, w := range tw.both() {
		lines = append(lines, tw.slowLine(t, w, size/int64(takes/time.Second)))
	}
	begin := time.Now()
	tw.start(t, nil)
	sleepUntil(t.Context(), begin.Add(bound+3*time.Second))
	for _, line := range lines {
		hole := line.Blackhole(faultproxy.Blackhole{})
		time.AfterFunc(hesitation, hole.Lift)
	}
	synced := awaitSync(t, tw, 2*takes+patience)

	checkWhole(t, tw, "watch", n)
	if took := synced[tw.wrapped].Sub(begin); took < bound+5*time.Second {
		t.Errorf("the initial events took %v, want about %v: the line was not slow", took, takes)
	}
	if !poll.Until(t.Context(), patience, func() bool { return ends(t, tw.transport)["watch"]["renewed"] == 1 }) {
		t.Errorf("the stream was not renewed once it was quiet: %v", ends(t, tw.transport))
	}
	tw.wrapped.await(t, after, tw.edit(t, after), patience)
	tw.checkResumed(t, synced[tw.wrapped])
	tw.checkEnds(t, map[string]int{"renewed": 1}, "server")
	results.figures(t, map[string]float64{
		"objects": float64(n), "bytes": float64(size), "wrapped_s": seconds(synced[tw.wrapped].Sub(begin)), "stock_s": seconds(synced[tw.stock].Sub(begin)),
		"renewed_s": seconds(tw.wrapped.requests("watch")[0].Duration),
	})
}

// checkWhole fails unless each informer has got all objects by its first request
// of the verb.
func checkWhole(t *testing.T, tw *twins, verb string, n int) {
	t.Helper()
	for _, w := range tw.both() {
		if r := w.requests(verb); r[0].Objects+r[0].InitialObjects != int64(n) || w.refilled(time.Time{}) != int64(n) {
			t.Errorf("%s was not filled with %d objects by its first %s:\n%v", w.agent, n, verb, w.requests(""))
		}
		if got := len(w.GetStore().ListKeys()); got != n {
			t.Errorf("%s holds %d objects, want %d", w.agent, got, n)
		}
	}
}

// awaitSync returns when the informers have synced.
func awaitSync(t *testing.T, tw *twins, limit time.Duration) map[*twin]time.Time {
	t.Helper()
	synced := map[*twin]time.Time{}
	if !poll.Until(t.Context(), limit, func() bool {
		for _, w := range tw.both() {
			if synced[w].IsZero() && w.HasSynced() {
				synced[w] = time.Now()
			}
		}
		return len(synced) == 2
	}) {
		t.Fatalf("not synced within %v: %v, %v", limit, tw.wrapped.errors(), tw.stock.errors())
	}
	return synced
}
