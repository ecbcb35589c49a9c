// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
)

// program is an operator in small: an informer under guard, and a stock one.
type program struct {
	*guard
	guarded, stock cache.SharedIndexInformer
}

// startProgram runs the informers of a kind until the end of the test, each with
// a client of its own.
func startProgram(t testing.TB, b backend, k kind, opts freshness.Options, as reader) *program {
	t.Helper()
	p := &program{guard: startGuard(t, opts)}
	lw := func(agent string) cache.ListerWatcher {
		lw := dynamicLW(dynamicClient(t, b.config(agent)), k, b.namespace())
		if as != nil {
			return as(lw)
		}
		return lw
	}
	p.guarded = p.NewInformer(lw(guardedAgent), &unstructured.Unstructured{}, 0, cache.Indexers{})
	p.stock = cache.NewSharedIndexInformer(lw(stockAgent), &unstructured.Unstructured{}, 0, cache.Indexers{})
	untilEnd(t, p.guarded.RunWithContext)
	untilEnd(t, p.stock.RunWithContext)
	return p
}

// checkUndisturbed fails unless the guard has left the informer alone, as it has
// to with one that is healthy.
func (p *program) checkUndisturbed(t *testing.T, b backend) {
	t.Helper()
	h := p.history(everyInformer)
	o := outcome{
		history: h, lifted: -1, stockSeen: -1, provenEvery: h.longestGap(time.Now()),
		slow: p.slowness(b.slowestProof(guardedAgent)), liveness: p.liveness(),
	}
	if err := healthy("", "", nil, 0).check(o); err != nil {
		t.Errorf("%v\nslow: %q, history:\n%v", err, o.slow, h)
	}
}

// differs says how a cache differs from what the server has, if it does.
func differs(inf cache.SharedIndexInformer, want map[string]string) error {
	got := map[string]string{}
	for _, obj := range inf.GetStore().List() {
		o := obj.(*unstructured.Unstructured)
		got[o.GetName()] = o.GetResourceVersion()
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("%w: it holds %v, the server %v", errContents, got, want)
	}
	return nil
}
