// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
)

// A client whose own limiter is always busy keeps lists waiting for ever. That must
// not look like an API server that does not answer.
func TestStarvedLimiterDoesNotBlind(t *testing.T) {
	tests := []struct {
		name   string
		tokens time.Duration // between two that are left for the informer
	}{
		{"half a minute for each list", 30 * time.Second},
		{"5 s for each list", 5 * time.Second},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			srv := widgetServer(t)
			cfg := rest.CopyConfig(srv.Config())
			cfg.RateLimiter = &busyLimiter{gap: tt.tokens}
			client, err := dynamic.NewForConfig(cfg)
			if err != nil {
				t.Fatal(err)
			}
			r := client.Resource(widgets)
			f := newFixtureOn(t, srv, freshness.Options{}, func(cache.ListerWatcherWithContext) cache.ListerWatcher {
				return &cache.ListWatch{
					ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return r.List(ctx, o) },
					WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
						return r.Watch(ctx, o)
					},
				}
			})
			f.fill()
			f.warm()
			time.Sleep(10 * time.Minute)
			before := f.status().Proofs
			time.Sleep(30 * time.Minute)
			st := f.status()
			if n := st.Proofs - before; n < 28 || st.Verdict != freshness.Fresh || st.Staleness > freshness.DefaultMaxStaleness {
				t.Errorf("%s: %d proofs in 30 min, %v, bound %v; events:\n%s", tt.name, n, st.Verdict, st.Staleness, f.log())
			}
			f.harmless()
			f.srv.Stall(widgets)
			if err := f.srv.Update(widget("a", "blue")); err != nil {
				t.Fatal(err)
			}
			f.sleepUntil(90*time.Second, "healed", f.sees(f.guarded, "a", "blue"))
		})
	}
}

// busyLimiter lets one request pass in each gap.
type busyLimiter struct{ gap time.Duration }

func (l *busyLimiter) TryAccept() bool { return false }
func (l *busyLimiter) Accept()         { time.Sleep(l.gap) }
func (l *busyLimiter) Stop()           {}
func (l *busyLimiter) QPS() float32    { return 0 }

func (l *busyLimiter) Wait(ctx context.Context) error {
	select {
	case <-time.After(l.gap):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
