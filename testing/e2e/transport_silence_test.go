// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// TestTransportEndsSilentWatchBesideLiveOnes kills one stream of a connection that
// answers PINGs and carries others.
func TestTransportEndsSilentWatchBesideLiveOnes(t *testing.T) {
	realServerTest(t)
	const idle = 30 * time.Second
	tw := newTwins(t, transport.Options{IdleTimeout: idle})
	tw.startSynced(t, nil)
	live := tw.startLive(t, 3*time.Second)

	silent := tw.api.Inject(tw.match("watch"), faultproxy.Silence{OnlyOpen: true})
	fault := tw.edit(t, after)
	if silent.Hits() != 2 {
		t.Errorf("silenced %d streams, want 2", silent.Hits())
	}
	seen := tw.wrapped.await(t, after, fault, idle+late)
	if quiet := tw.wrapped.requests("watch")[0]; quiet.Duration-quiet.LastByte < idle-early {
		t.Errorf("the watch was ended %v after its last byte, want no less than %v", quiet.Duration-quiet.LastByte, idle)
	}
	tw.stock.checkBlind(t, after)

	tw.checkResumed(t, fault)
	tw.checkEnds(t, map[string]int{"idle": 1})
	if n := live.requests(); n != 1 {
		t.Errorf("the live informer has sent %d watches, want its first only", n)
	}
	if lost := figure(t, tw.transport, "freshwatch_transport_pings_lost_total"); lost != 0 {
		t.Errorf("%v connections were given up, want none", lost)
	}
	poll.Until(t.Context(), longer, func() bool { return false })
	tw.stock.checkBlind(t, after)
	results.figures(t, map[string]float64{"seen_s": seconds(seen), "stock_blind_s": seconds(time.Since(fault))})
}

// live is an informer of another kind, by the wrapped config's client.
type live struct {
	cache.SharedIndexInformer
	requests func() int
	written  atomic.Int64
}

// startLive runs an informer whose kind is written as often as every says.
func (tw *twins) startLive(t *testing.T, every time.Duration) *live {
	t.Helper()
	k := kind{name: "Secret"}
	l := &live{SharedIndexInformer: tw.wrapped.another(t, k)}
	l.requests = func() int {
		return len(tw.api.Requests(faultproxy.Match{UserAgent: twinAgent, Verb: "watch", Resource: k.resource(), Namespace: tw.ns}))
	}
	tw.plane.put(t, k.object(tw.ns, "live", before), k)
	untilEnd(t, func(ctx context.Context) {
		for ; sleepUntil(ctx, time.Now().Add(every)); l.written.Add(1) {
			if err := tw.plane.update(ctx, k, tw.ns, "live", fmt.Sprint(l.written.Load())); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	})
	return l
}

// TestTransportLeavesSlowReadersAlone has a program that does not come to read
// its events. That is not the server's fault, however long it takes.
func TestTransportLeavesSlowReadersAlone(t *testing.T) {
	realServerTest(t)
	const (
		idle  = 10 * time.Second
		edits = 50
	)
	tw := newTwins(t, transport.Options{IdleTimeout: idle})
	list := contents(t, tw, tw.kind)
	streams := map[*twin]watch.Interface{}
	for _, w := range tw.both() {
		client := dynamicClient(t, w.config).Resource(tw.kind.gvr()).Namespace(tw.ns)
		stream, err := client.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list[edited], FieldSelector: "metadata.name=" + edited})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stream.Stop)
		streams[w] = stream
	}
	begin := time.Now()
	for i := range edits {
		tw.edit(t, fmt.Sprint(i))
	}
	poll.Until(t.Context(), 3*idle, func() bool { return false }) // nobody reads

	for w, stream := range streams {
		for i := range edits {
			e, ok := receive(stream, patience)
			if !ok || e.Type != watch.Modified || colorOf(e.Object) != fmt.Sprint(i) {
				t.Fatalf("%s: event %d of %d is %v (open: %t): %v", w.agent, i, edits, e.Type, ok, e.Object)
			}
		}
	}
	tw.checkEnds(t, nil)
	read := time.Now()
	// Now somebody waits, and nothing comes.
	if e, ok := receive(streams[tw.wrapped], idle+late); ok || e.Type != "" {
		t.Errorf("the wrapped stream brings %v, want its end", e)
	} else if ended := time.Since(read); ended < idle-early {
		t.Errorf("the wrapped stream has ended %v after its reader began to wait, want %v", ended, idle)
	}
	tw.checkEnds(t, map[string]int{"idle": 1})
	if r := tw.stock.requests("watch"); len(r) != 1 || !r[0].Open {
		t.Errorf("the stock stream has ended:\n%v", r)
	}
	results.figures(t, map[string]float64{"unread_s": seconds(read.Sub(begin)), "ended_s": seconds(time.Since(read))})
}

// receive returns the next event. It is false where the stream has ended, or
// brings nothing within limit; then the type of the event is an error.
func receive(w watch.Interface, limit time.Duration) (watch.Event, bool) {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case e, ok := <-w.ResultChan():
		return e, ok
	case <-timeout.C:
		return watch.Event{Type: watch.Error}, false
	}
}
