// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

const (
	twinAgent = "e2e-wrapped"

	// late is by how much a busy machine may be late where the transport itself is
	// not by more than two seconds.
	late = 10 * time.Second
	// early is by how much a proxy may see a watch begin later than it does.
	early = time.Second
)

// twins are two informers of the same objects on one server, by two clients that
// differ in nothing but what package transport did to one's config.
type twins struct {
	*server
	transport      *transport.Transport
	wrapped, stock *twin
}

// newTwins makes the configs; start makes clients and informers from them.
func newTwins(t *testing.T, opts transport.Options) *twins {
	t.Helper()
	p := sharedPlane.Get(t)
	tw := newTwinsIn(t, p, p.namespace(t, "twins"), opts)
	for i := range population {
		tw.put(t, fmt.Sprintf("object-%d", i), before)
	}
	return tw
}

// newTwinsIn makes them for the objects that are in a namespace.
func newTwinsIn(t *testing.T, p *plane, ns string, opts transport.Options) *twins {
	t.Helper()
	tw := &twins{server: &server{plane: p, kind: configMaps, ns: ns, user: p.Config(), api: startAPI(t, p)}}
	tw.tcp = startTCP(t, tw.api.Addr())
	tw.wrapped, tw.stock = tw.newTwin(twinAgent), tw.newTwin(stockAgent)
	tw.transport = wrap(t, tw.wrapped.config, opts)
	return tw
}

func wrap(t testing.TB, cfg *rest.Config, opts transport.Options) *transport.Transport {
	t.Helper()
	tr, err := transport.Wrap(cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// start runs both informers until the end of the test.
func (tw *twins) start(t *testing.T, as reader) {
	t.Helper()
	for _, w := range tw.both() {
		w.start(t, as)
	}
}

// startSynced waits until they have the objects, too.
func (tw *twins) startSynced(t *testing.T, as reader) {
	t.Helper()
	tw.start(t, as)
	if !poll.Until(t.Context(), patience, func() bool { return tw.stock.HasSynced() && tw.wrapped.HasSynced() }) {
		t.Fatalf("the informers did not sync within %v: %v, %v", patience, tw.wrapped.errors(), tw.stock.errors())
	}
}

func (tw *twins) both() []*twin { return []*twin{tw.wrapped, tw.stock} }

// edit changes the object whose colors the twins report, and returns when it began to.
func (tw *twins) edit(t *testing.T, color string) time.Time {
	t.Helper()
	moment := time.Now()
	tw.put(t, edited, color)
	return moment
}

// checkSame waits until both informers hold what the server holds.
func (tw *twins) checkSame(t *testing.T) {
	t.Helper()
	want := contents(t, tw, tw.kind)
	for _, w := range tw.both() {
		if !poll.Until(t.Context(), patience, func() bool { return differs(w, want) == nil }) {
			t.Errorf("%s: %v", w.agent, differs(w, want))
		}
	}
}

// checkResumed fails if the wrapped informer was sent anything twice.
func (tw *twins) checkResumed(t *testing.T, since time.Time) {
	t.Helper()
	if n := tw.wrapped.refilled(since); n != 0 {
		t.Errorf("the wrapped informer was sent %d objects to fill its cache again, want none; its requests:\n%v", n, tw.wrapped.requests(""))
	}
}

// awaitHits waits until a fault has acted n times.
func awaitHits(t *testing.T, f *faultproxy.Injection, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := f.WaitHits(ctx, n); err != nil {
		t.Fatal(err)
	}
}
