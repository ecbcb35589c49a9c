// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
)

// Informers that start together do not prove themselves together for long, and none
// of them is ever suspected for it.
func TestProofsAreSpreadOverTheMinute(t *testing.T) {
	const n, settle = 60, 5 * time.Minute
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		reads := map[int64]int{} // in each second
		began := time.Now()
		monitor, err := freshness.New(freshness.Options{Observer: func(e freshness.Event) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case e.Type == freshness.Read && e.Time.Sub(began) > settle:
				reads[e.Time.Unix()]++
			case e.Type == freshness.CureStarted, e.Type == freshness.VerdictChanged && e.Verdict != freshness.Fresh:
				t.Error(e)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		f := newFixture(t, freshness.Options{})
		f.fill()
		f.busyElsewhere()
		var wg sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); wg.Wait() }()
		for i := range n {
			lw := f.listerWatcher()
			inf := monitor.NewInformer(lw, &unstructured.Unstructured{}, 0, cache.Indexers{fmt.Sprint(i): cache.MetaNamespaceIndexFunc})
			wg.Go(func() { inf.RunWithContext(ctx) })
		}
		wg.Go(func() { _ = monitor.Start(ctx) })
		time.Sleep(settle + 10*time.Minute)
		mu.Lock()
		defer mu.Unlock()
		var renewals uint64
		for _, st := range monitor.Status() {
			renewals += st.Renewals
			if st.Doubts > 0 {
				t.Errorf("%d doubts", st.Doubts)
			}
		}
		counts := slices.Collect(func(yield func(int) bool) {
			for _, c := range reads {
				if !yield(c) {
					return
				}
			}
		})
		if busiest := slices.Max(counts); busiest > 20 { // of 60, all together without
			t.Errorf("%d of %d proofs in one second; %d renewals", busiest, n, renewals)
		}
		if renewals == 0 || renewals > 2*n {
			t.Errorf("%d renewals", renewals)
		}
	})
}
