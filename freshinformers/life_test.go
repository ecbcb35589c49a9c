// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshinformers_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/freshwatch/freshwatch/freshinformers"
	"github.com/freshwatch/freshwatch/freshness"
)

// waitFor lets the bubble's time run until cond holds.
func (f *fixture) waitFor(limit time.Duration, what string, cond func() bool) {
	f.Helper()
	begin := time.Now()
	for !cond() {
		if time.Since(begin) > limit {
			f.Fatalf("not within %v: %s; status %+v", limit, what, f.monitor.Status())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// program is an informer from a factory.
type program struct {
	informer cache.SharedIndexInformer
	start    func(context.Context)
	shutdown func()
}

// programs makes an informer of ConfigMaps by each factory, guarded or as client-go
// would.
func programs(f *fixture, guarded bool) map[string]program {
	generated := informers.NewSharedInformerFactory(f.typed, 0)
	var untyped factory = dynamicinformer.NewDynamicSharedInformerFactory(f.dynamic, 0)
	var partial factory = metadatainformer.NewSharedInformerFactory(f.metadata, 0)
	if guarded {
		_, err := freshinformers.Register(f.monitor, generated, &corev1.ConfigMap{},
			freshinformers.ListWatch(f.typed.CoreV1().ConfigMaps(""), nil))
		f.must(err)
		untyped = kindsOfFactory(f, freshinformers.Options{})["dynamic"]
		partial = kindsOfFactory(f, freshinformers.Options{})["metadata"]
	}
	return map[string]program{
		"generated": {generated.Core().V1().ConfigMaps().Informer(), generated.StartWithContext, generated.Shutdown},
		"dynamic":   {untyped.ForResource(configMaps).Informer(), func(ctx context.Context) { untyped.Start(ctx.Done()) }, untyped.Shutdown},
		"metadata":  {partial.ForResource(configMaps).Informer(), func(ctx context.Context) { partial.Start(ctx.Done()) }, partial.Shutdown},
	}
}

func startAll(ctx context.Context, all map[string]program) {
	for _, p := range all {
		p.start(ctx)
	}
}

func shutdownAll(all map[string]program) {
	for _, p := range all {
		p.shutdown()
	}
}

// Each factory's informer heals when its stream falls silent, and client-go's own
// beside it does not.
func TestSilentStreamHeals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.busyElsewhere()
		guarded, stock := programs(f, true), programs(f, false)
		startAll(f.ctx, guarded)
		startAll(f.ctx, stock)
		defer func() { f.stop(); shutdownAll(guarded); shutdownAll(stock) }()
		f.waitForStatuses(time.Minute, "configmaps/v1: Fresh, configmaps/v1: Fresh, configmaps/v1: Fresh")
		time.Sleep(2 * time.Minute) // a bookmark has been seen

		stall := f.srv.Stall(configMaps)
		if got := stall.Hits(); got != 6 {
			t.Errorf("%d streams are silent, want 6", got)
		}
		begin := time.Now()
		f.must(f.srv.Create(configMap("default", "news", "red")))
		sees := func(p program) bool {
			_, found, err := p.informer.GetStore().GetByKey("default/news")
			return found && err == nil
		}
		for name, p := range guarded {
			f.waitFor(75*time.Second, name, func() bool { return sees(p) })
		}
		t.Logf("healed after %v", time.Since(begin))
		f.waitForStatuses(10*time.Second, "configmaps/v1: Fresh, configmaps/v1: Fresh, configmaps/v1: Fresh")
		for _, st := range f.monitor.Status() {
			if st.Cures[freshness.Resume] != 1 || st.Cures[freshness.Relist] != 0 {
				t.Errorf("%v: cures %v, want one resume", st.Informer, st.Cures)
			}
		}
		for name, p := range stock {
			if sees(p) {
				t.Errorf("%s of client-go saw the edit through a silent stream: the test shows nothing", name)
			}
		}
	})
}

// With a factory go its informers, their series and their goroutines; the monitor
// stays.
func TestShutdownLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		for range 3 {
			ctx, stop := context.WithCancel(f.ctx)
			all := programs(f, true)
			startAll(ctx, all)
			f.waitForStatuses(time.Minute, "configmaps/v1: Fresh, configmaps/v1: Fresh, configmaps/v1: Fresh")
			if f.series() == 0 {
				t.Error("no series of informers that run")
			}
			stop()
			shutdownAll(all)
			f.waitForStatuses(time.Second, "")
			if n := f.series(); n != 0 {
				t.Errorf("%d families of series without an informer", n)
			}
		}
	})
}

// Informers that only the leader runs: none on the standby, new ones with each term.
func TestLeaderElection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.must(f.srv.Create(configMap("default", "a", "red")))
		lead := func(ctx context.Context) {
			all := programs(f, true)
			startAll(ctx, all)
			<-ctx.Done()
			shutdownAll(all)
		}
		term := func(identity string) context.CancelFunc {
			ctx, stop := context.WithCancel(f.ctx)
			f.wg.Go(func() { campaign(ctx, f, identity, lead) })
			return stop
		}
		first := term("first")
		f.waitForStatuses(time.Minute, "configmaps/v1: Fresh, configmaps/v1: Fresh, configmaps/v1: Fresh")
		second := term("second")
		defer second()
		time.Sleep(time.Minute)
		if n := len(f.monitor.Status()); n != 3 {
			t.Errorf("%d informers while the second stands by, want the first's 3", n)
		}
		handedOver := time.Now()
		first()
		f.waitFor(time.Minute, "three informers of the second's", func() bool {
			return f.statuses() == "configmaps/v1: Fresh, configmaps/v1: Fresh, configmaps/v1: Fresh" &&
				!slices.ContainsFunc(f.monitor.Status(), func(st freshness.Status) bool { return st.Since.Before(handedOver) })
		})
	})
}

// campaign leads once, when it is elected.
func campaign(ctx context.Context, f *fixture, identity string, lead func(context.Context)) {
	led := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: "program"},
			Client:     f.typed.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { lead(ctx); close(led) },
			OnStoppedLeading: func() { <-led },
		},
	})
	if err != nil {
		f.Error(err)
		return
	}
	elector.Run(ctx)
}
