// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// A hundred probes and scrapes at once, while a canary starts, stalls and ends: for the
// race detector, and for what must agree with itself.
func TestConcurrentReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := freshtest.Start(t, freshtest.Options{})
		c := newCanary(t, srv)
		reading, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var mu sync.Mutex
		seen := map[watchcanary.State]int{}
		failed := 0
		for range 100 {
			wg.Go(func() {
				for reading.Err() == nil {
					err, st := c.Check(nil), c.Status()
					mu.Lock()
					seen[st.State]++
					if err != nil {
						failed++
					}
					mu.Unlock()
					ch := make(chan prometheus.Metric, 100)
					c.Collect(ch)
					if len(ch) == 0 {
						t.Error("no metrics")
					}
					time.Sleep(500 * time.Millisecond)
				}
			})
		}
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			time.AfterFunc(20*time.Second, func() { srv.Stall(coordinationv1.SchemeGroupVersion.WithResource("leases")) })
			if err := c.Start(ctx); err != nil {
				t.Error(err)
			}
			cancel()
		}
		stop()
		wg.Wait()
		for _, s := range []watchcanary.State{watchcanary.Pending, watchcanary.Fresh, watchcanary.Stalled} {
			if seen[s] == 0 {
				t.Errorf("nobody has seen %v: %v", s, seen)
			}
		}
		if failed == 0 {
			t.Errorf("liveness has never failed: %v", seen)
		}
	})
}
