// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
)

// user is the program's own traffic: one read a second, through the client that
// the informers use, and its rate limit.
type user struct {
	stop func()

	mu   sync.Mutex
	took []time.Duration
}

func startUser(ctx context.Context, client dynamic.Interface, j job) *user {
	ctx, cancel := context.WithCancel(ctx)
	u := &user{}
	var wg sync.WaitGroup
	u.stop = func() { cancel(); wg.Wait() }
	wg.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for i := 0; ; i++ {
			select {
			case <-ticker.C:
				u.read(ctx, client.Resource(resource(i%j.Kinds)).Namespace(j.Namespaces[0]))
			case <-ctx.Done():
				return
			}
		}
	})
	return u
}

func (u *user) read(ctx context.Context, r dynamic.ResourceInterface) {
	begin := time.Now()
	if _, err := r.Get(ctx, "only", metav1.GetOptions{}); err != nil {
		return // the end, or an API server too busy to answer: no news of the limit
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.took = append(u.took, time.Since(begin))
}

func (u *user) report(f *figures) {
	u.mu.Lock()
	defer u.mu.Unlock()
	slices.Sort(u.took)
	f.UserReads = len(u.took)
	f.UserMedian, f.User99, f.UserMax = quantile(u.took, 0.5), quantile(u.took, 0.99), quantile(u.took, 1)
}

// quantile returns that of sorted durations, in milliseconds.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := min(len(sorted)-1, int(q*float64(len(sorted))))
	return float64(sorted[i].Microseconds()) / 1000
}
