// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// TestSlowHandlerIsNoStall gives the informer a handler that needs 2 s per event,
// and 100 events at once. The cache moves on without it.
func TestSlowHandlerIsNoStall(t *testing.T) {
	realServerTest(t)
	const (
		events   = 100
		perEvent = 2 * time.Second
	)
	k := custom("Slow")
	b := newServer(t, sharedPlane.Get(t), k, t.Name())
	p := startProgram(t, b, k, freshness.Options{}, nil)
	var handled atomic.Int32
	if _, err := p.guarded.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		if sleepUntil(t.Context(), time.Now().Add(perEvent)) {
			handled.Add(1)
		}
	}}); err != nil {
		t.Fatal(err)
	}
	for i := range events {
		b.put(t, fmt.Sprintf("object-%d", i), before)
	}
	want := contents(t, b, k)
	if !poll.Until(t.Context(), perEvent*events/2, func() bool { return differs(p.guarded, want) == nil }) {
		t.Errorf("the cache waits for the handler, which has handled %d of %d events: %v", handled.Load(), events, differs(p.guarded, want))
	}
	if !poll.Until(t.Context(), perEvent*events+patience, func() bool { return handled.Load() == events }) {
		t.Fatalf("handled %d of %d events", handled.Load(), events)
	}

	p.checkUndisturbed(t, b)
	h := p.history(everyInformer)
	if got := h.count(freshness.Proven); got < 3 {
		t.Errorf("%d proofs while the handler was busy, want at least 3:\n%v", got, h)
	}
	results.figures(t, map[string]float64{"proofs": float64(h.count(freshness.Proven))})
}
