// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// resumedWithin is the promise of the defaults, 15 s, and what a busy machine may be late
// by.
const resumedWithin = 20 * time.Second

// crowdSize is how many objects the informers hold that a relist would send again. Where
// there is time for it they are as many as the figures in the documents are about.
var crowdSize = func() int {
	if os.Getenv(slowTests) == "1" {
		return 5000
	}
	return 1000
}()

// TestTransportBlackholedFirstHop swallows all that the first hop carries. New
// connections work. Stock client-go takes 45 s until it knows, and then has
// everything sent again.
func TestTransportBlackholedFirstHop(t *testing.T) {
	realServerTest(t)
	p := sharedPlane.Get(t)
	c := newCrowd(t, p)
	for _, tc := range []struct {
		name string
		// inform runs the side's informers, and edits makes what they show.
		inform func(*testing.T, *side, []*edits)
		edits  func(*testing.T) []*edits
	}{
		{
			name:   "filled by list",
			inform: func(t *testing.T, s *side, e []*edits) { s.inform(t, withoutWatchList, e...) },
			edits:  c.edits,
		},
		{
			name:   "filled by WatchList",
			inform: func(t *testing.T, s *side, e []*edits) { s.inform(t, nil, e...) },
			edits:  c.edits,
		},
		{
			name:   "four informers on one connection",
			inform: func(t *testing.T, s *side, e []*edits) { s.inform(t, nil, e...) },
			edits: func(t *testing.T) []*edits {
				others := p.namespace(t, "beside-crowd")
				return append(c.edits(t),
					newEdits(t, p, configMaps, others, edited),
					newEdits(t, p, custom("BesideCrowd"), others, edited),
					newEdits(t, p, custom("BesidesCrowd"), others, edited))
			},
		},
		{name: "cache of controller-runtime", inform: informByControllerRuntime, edits: c.edits},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWay(t, p, wayOptions{})
			wrapped := wrappedSide(t, w.config(), twinAgent, transport.Options{})
			stock := stockSide(t, w.config(), stockAgent)
			e := tc.edits(t)
			tc.inform(t, wrapped, e)
			tc.inform(t, stock, e)
			flow(t, wrapped, stock)
			checkOneConnection(t, w, wrapped, stock)

			w.front.Blackhole(faultproxy.Blackhole{Existing: true})
			fault := time.Now()
			for _, e := range e {
				e.make(t)
			}
			if !poll.Until(t.Context(), patience, wrapped.showsAll) {
				t.Fatalf("the edit is not there after %v; requests:\n%v", time.Since(fault), w.told(twinAgent))
			}
			cost := w.bill(twinAgent, fault)
			if stock.showsAny() {
				t.Errorf("the stock informer saw the edit after %v: there was no fault", stock.first(fault))
			}
			if !poll.Until(t.Context(), patience, stock.showsAll) {
				t.Errorf("the stock informer did not see the edit within %v", time.Since(fault))
			}
			checkResumedAfter(t, w, wrapped, fault)
			checkRelistedAfter(t, w, stock, fault)
			noteRecoveries(t, wrapped.latest(fault), cost, stock.latest(fault), w.bill(stockAgent, fault))
		})
	}
}

// checkOneConnection fails unless each side has all its watches on one connection.
func checkOneConnection(t *testing.T, w *way, sides ...*side) {
	t.Helper()
	for _, s := range sides {
		got := w.clients(s.agent)
		for _, streams := range got {
			if len(got) != 1 || streams != len(s.diaries) {
				t.Errorf("%s: watches by connection %v, want %d on one", s.agent, got, len(s.diaries))
			}
		}
	}
}

// checkResumedAfter holds a wrapped client to what is promised: a new connection
// in time, one watch for each informer, and no object twice.
func checkResumedAfter(t *testing.T, w *way, s *side, fault time.Time) {
	t.Helper()
	if took := s.latest(fault); took > resumedWithin {
		t.Errorf("resumed, and saw the edit, after %v, want at most %v", took, resumedWithin)
	}
	got := w.bill(s.agent, fault)
	if got.lists != 0 || got.objects != 0 {
		t.Errorf("%d lists sent %d objects again, want none; requests:\n%v", got.lists, got.objects, w.told(s.agent))
	}
	if got.requests != len(s.diaries) {
		t.Errorf("%d requests, want one watch for each of %d informers:\n%v", got.requests, len(s.diaries), w.told(s.agent))
	}
	if lost := figure(t, s.guard, "freshwatch_transport_pings_lost_total"); lost != 1 {
		t.Errorf("%v connections lost, want one", lost)
	}
	if got := ends(t, s.guard)["watch"]["ping"]; got != float64(len(s.diaries)) {
		t.Errorf("%v watches ended with their connection, want %d", got, len(s.diaries))
	}
}

// checkRelistedAfter makes sure that the fault was one: a stock client takes its
// time, and then has everything sent again.
func checkRelistedAfter(t *testing.T, w *way, s *side, fault time.Time) {
	t.Helper()
	if took := s.first(fault); took < 25*time.Second {
		t.Errorf("the stock client saw the edit after %v: there was no fault", took)
	}
	if got := w.bill(s.agent, fault); got.lists < len(s.diaries) || got.objects < int64(crowdSize) {
		t.Errorf("the stock client had %d objects sent again by %d lists: there was no fault", got.objects, got.lists)
	}
}

// noteRecoveries tells what both recoveries took, and what they cost.
func noteRecoveries(t *testing.T, wrappedTook time.Duration, wrapped bill, stockTook time.Duration, stock bill) {
	t.Helper()
	results.figures(t, map[string]float64{
		"wrapped_seen_s":   seconds(wrappedTook),
		"wrapped_requests": float64(wrapped.requests),
		"wrapped_objects":  float64(wrapped.objects),
		"wrapped_bytes":    float64(wrapped.bytes),
		"stock_seen_s":     seconds(stockTook),
		"stock_requests":   float64(stock.requests),
		"stock_objects":    float64(stock.objects),
		"stock_bytes":      float64(stock.bytes),
	})
}

// informByControllerRuntime has a cache of controller-runtime run the informers,
// with the http.Client that a manager would share. They are of one namespace.
func informByControllerRuntime(t *testing.T, s *side, all []*edits) {
	t.Helper()
	c, err := ctrlcache.New(s.cfg, ctrlcache.Options{
		HTTPClient: s.http, DefaultNamespaces: map[string]ctrlcache.Config{all[0].ns: {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	untilEnd(t, func(ctx context.Context) {
		if err := c.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	for _, e := range all {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(e.kind.gvk())
		inf, err := c.GetInformer(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		s.note(t, e, inf)
	}
}
