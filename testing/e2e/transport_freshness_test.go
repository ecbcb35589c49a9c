// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// informGuarded runs an informer under a guard of package freshness.
func (s *side) informGuarded(t *testing.T, g *guard, as reader, e *edits) {
	t.Helper()
	inf := g.NewInformer(s.listerWatcher(t, e, as), &unstructured.Unstructured{}, 0, cache.Indexers{})
	s.note(t, e, inf)
	untilEnd(t, inf.RunWithContext)
}

// TestTransportWithFreshnessBlackhole swallows what the first hop carries of an
// informer that both packages guard. The transport is there first, and freshness
// has nothing to say.
func TestTransportWithFreshnessBlackhole(t *testing.T) {
	realServerTest(t)
	p := sharedPlane.Get(t)
	w := newWay(t, p, wayOptions{})
	e := newEdits(t, p, custom("BothHoled"), p.namespace(t, word(t.Name())), edited)
	g := startGuard(t, freshness.Options{})
	both, stock := wrappedSide(t, w.config(), twinAgent, transport.Options{}), stockSide(t, w.config(), stockAgent)
	both.informGuarded(t, g, nil, e)
	stock.inform(t, nil, e)
	flow(t, both, stock)
	proven := func() bool {
		h := g.history(everyInformer)
		return h.verdict() == freshness.Fresh && h.count(freshness.Proven) >= 2
	}
	if !poll.Until(t.Context(), patience, proven) {
		t.Fatalf("not proven fresh within %v:\n%v", patience, g.history(everyInformer))
	}
	flow(t, both, stock)

	w.front.Blackhole(faultproxy.Blackhole{Existing: true})
	fault := e.make(t)
	if !poll.Until(t.Context(), patience, both.showsAll) {
		t.Fatalf("the edit is not there after %v:\n%v", time.Since(fault), w.told(twinAgent))
	}
	if stock.showsAny() {
		t.Errorf("the stock informer saw the edit after %v: there was no fault", stock.first(fault))
	}
	if !poll.Until(t.Context(), patience, stock.showsAll) {
		t.Errorf("the stock informer did not see the edit within %v", time.Since(fault))
	}
	// Until a proof over the new connection.
	if !poll.Until(t.Context(), recovery, func() bool { return g.history(everyInformer).freshAsOf().After(fault) }) {
		t.Errorf("not proven fresh within %v", recovery)
	}

	h := g.history(everyInformer)
	if took := both.latest(fault); took > resumedWithin {
		t.Errorf("the edit was seen after %v, want at most %v", took, resumedWithin)
	}
	if got := w.bill(twinAgent, fault); got.lists != 0 {
		t.Errorf("%d lists sent %d objects again, want none:\n%v", got.lists, got.objects, w.told(twinAgent))
	}
	if got := w.bill(stockAgent, fault); got.lists == 0 {
		t.Errorf("the stock client did not list again: there was no fault:\n%v", w.told(stockAgent))
	}
	for _, bad := range []freshness.Verdict{freshness.Stalled, freshness.ControlPlaneStalled, freshness.Blind} {
		if slices.Contains(h.verdicts(), bad) {
			t.Errorf("verdict %v:\n%v", bad, h)
		}
	}
	if err := g.liveness(); err != nil {
		t.Errorf("liveness failed: %v", err)
	}
	cures := h.since(fault).cures(freshness.CureStarted)
	if slices.ContainsFunc(cures, func(r freshness.Rung) bool { return r != freshness.Resume }) {
		t.Errorf("cures %v:\n%v", cures, h)
	}
	results.figures(t, map[string]float64{
		"both_seen_s": seconds(both.latest(fault)), "stock_seen_s": seconds(stock.latest(fault)), "cures": float64(len(cures)),
	})
}

// TestTransportLeavesFreshnessInPeace leaves informers alone that nobody edits.
// A watch that the transport has shortened brings its bookmark 2 s before it ends,
// not after a minute. Freshness is told when that is, and has its proof by then.
// Where it is not told, it has to renew the watch to get one.
func TestTransportLeavesFreshnessInPeace(t *testing.T) {
	realServerTest(t)
	quietTogether(t, transport.Options{MaxWatch: 60 * time.Second}, 165*time.Second)
}

// TestTransportLeavesFreshnessInPeaceByDefault is the same with the defaults.
func TestTransportLeavesFreshnessInPeaceByDefault(t *testing.T) {
	slowTest(t)
	quietTogether(t, transport.Options{}, 10*time.Minute)
}

// quietSide is a way in which a quiet informer is guarded.
type quietSide struct {
	agent  string
	opts   *transport.Options // nil: freshness alone
	reader reader
	// untold: what the transport tells does not reach freshness.
	untold bool
	// renewals is how many there may be, untold or not.
	renewals int

	guard *guard
	side  *side
	had   int // renewals before
}

func quietTogether(t *testing.T, opts transport.Options, quiet time.Duration) {
	t.Helper()
	p := sharedPlane.Get(t)
	w := newWay(t, p, wayOptions{})
	e := newEdits(t, p, custom("BothQuiet"), p.namespace(t, "quiet"), edited)
	all := []*quietSide{
		{agent: "e2e-both-listed", opts: &opts, reader: withoutWatchList},
		// A stream of initial events keeps its long timeout and is ended by this side,
		// once, without that bookmark.
		{agent: "e2e-both-streamed", opts: &opts, renewals: 1},
		{agent: "e2e-untold-listed", opts: &opts, reader: withoutWatchList, untold: true},
		{agent: "e2e-alone-listed", reader: withoutWatchList},
		{agent: "e2e-alone-streamed"},
	}
	sides := make([]*side, 0, len(all))
	for _, q := range all {
		q.start(t, w, e)
		sides = append(sides, q.side)
	}
	flow(t, sides...)
	begin := time.Now()
	for _, q := range all {
		q.had = q.guard.renewed()
	}
	poll.Until(t.Context(), quiet, func() bool { return false })
	figures := map[string]float64{}
	for _, q := range all {
		q.check(t, w, begin, figures)
	}
	results.figures(t, figures)
}

func (q *quietSide) start(t *testing.T, w *way, e *edits) {
	t.Helper()
	q.guard = startGuard(t, freshness.Options{})
	if q.opts == nil {
		q.side = stockSide(t, w.config(), q.agent)
	} else {
		cfg := w.config()
		if q.untold {
			cfg.Wrap(keepFromFreshness)
		}
		q.side = wrappedSide(t, cfg, q.agent, *q.opts)
	}
	q.side.informGuarded(t, q.guard, q.reader, e)
}

func (q *quietSide) check(t *testing.T, w *way, begin time.Time, figures map[string]float64) {
	t.Helper()
	h, got, elapsed := q.guard.history(everyInformer).since(begin), w.bill(q.agent, begin), time.Since(begin)
	renewals := q.guard.renewed() - q.had
	figures[q.agent+"_renewals"] = float64(renewals)
	figures[q.agent+"_watches"] = float64(got.watches)
	figures[q.agent+"_proofs"] = float64(got.proofs)
	slow := q.guard.slowness(got.slowestProof)
	switch {
	case q.untold && renewals == 0:
		t.Errorf("%s: no renewal: this test cannot tell whether freshness is told of deadlines:\n%v", q.agent, h)
	case !q.untold && renewals > q.renewals && slow == "":
		t.Errorf("%s: %d renewals, want at most %d; history:\n%v\nrequests:\n%v", q.agent, renewals, q.renewals, h, w.told(q.agent))
	}
	if got.lists != 0 {
		t.Errorf("%s: %d lists, want none:\n%v", q.agent, got.lists, w.told(q.agent))
	}
	if err := q.guard.liveness(); err != nil {
		t.Errorf("%s: liveness failed: %v", q.agent, err)
	}
	least, most := 0, 1 // the shortest watch that client-go asks for is 5 min
	if q.opts != nil {
		maxWatch := cmp.Or(q.opts.MaxWatch, transport.DefaultMaxWatch)
		least, most = int(elapsed/(maxWatch+calmAfterInitial)), 1+int(elapsed/(maxWatch*3/4))
	} else {
		most += int(elapsed / (5 * time.Minute))
	}
	most += 2 * renewals // a short watch, and an ordinary one
	if got.watches < least || got.watches > most {
		t.Errorf("%s: %d watches in %v with %d renewals, want %d to %d:\n%v", q.agent, got.watches, elapsed, renewals, least, most, w.told(q.agent))
	}
}

// calmAfterInitial is for how much longer than MaxWatch a stream of initial events
// may go on until it is quiet enough to be renewed.
const calmAfterInitial = 15 * time.Second

// keepFromFreshness sends requests with contexts that tell nobody anything.
func keepFromFreshness(rt http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		return rt.RoundTrip(r.WithContext(valueless{r.Context()})) //nolint:contextcheck // it is the request's own
	})
}

// valueless is a context without values.
type valueless struct{ context.Context }

func (valueless) Value(any) any { return nil }
