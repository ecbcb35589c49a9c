// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

var _ manager.Runnable = (*withCaches)(nil)

// An initial list that never ends keeps a manager from whatever waits for its caches. The
// monitor must not be among that, since it is what ends the list.
func TestMonitorRunsBeforeCachesHaveSynced(t *testing.T) {
	for name, tt := range map[string]struct {
		add  func(mgr ctrl.Manager, m *freshness.Monitor) error
		want bool
	}{
		"with the caches": {func(mgr ctrl.Manager, m *freshness.Monitor) error { return mgr.Add(WithCaches(mgr.GetCache(), m)) }, true},
		"as any other":    {func(mgr ctrl.Manager, m *freshness.Monitor) error { return mgr.Add(m) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := freshtest.Start(t, freshtest.Options{})
				lost := srv.WithholdInitialEventsEnd(configMaps)
				m, err := freshness.New(freshness.Options{})
				if err != nil {
					t.Fatal(err)
				}
				opts := managerOptions()
				opts.Cache.NewInformer = m.NewInformer
				mgr, err := ctrl.NewManager(srv.Config(), opts)
				if err != nil {
					t.Fatal(err)
				}
				if err := tt.add(mgr, m); err != nil {
					t.Fatal(err)
				}
				wantSyncedWithin(t, srv, mgr, 7*time.Minute, tt.want)
				if !tt.want { // a manager whose caches never sync does not stop, either (controller-runtime 0.25)
					lost.Lift()
					srv.EndWatches(configMaps)
					<-mgr.Elected()
				}
			})
		})
	}
}

// wantSyncedWithin runs the manager, with an informer, and fails unless all that it runs
// after its caches is running after d, or is not.
func wantSyncedWithin(t *testing.T, srv *freshtest.Server, mgr ctrl.Manager, d time.Duration, want bool) {
	t.Helper()
	if _, err := mgr.GetCache().GetInformer(t.Context(), &corev1.ConfigMap{}, cache.BlockUntilSynced(false)); err != nil {
		t.Fatal(err)
	}
	run(t, srv, mgr)
	time.Sleep(d)
	synced := false
	select {
	case <-mgr.Elected():
		synced = true
	default:
	}
	if synced != want {
		t.Errorf("after %v the caches have synced: %v, want %v", d, synced, want)
	}
}

// NewManager runs the monitor so.
func TestNewManagerSyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := freshtest.Start(t, freshtest.Options{})
		srv.WithholdInitialEventsEnd(configMaps)
		mgr, err := NewManager(srv.Config(), managerOptions(), Options{
			Registerer: prometheus.NewRegistry(),
			Freshness:  freshness.Options{SyncTimeout: time.Minute}, // less than transport.Options.IdleTimeout, which begins anew
		})
		if err != nil {
			t.Fatal(err)
		}
		wantSyncedWithin(t, srv, mgr, 7*time.Minute, true)
	})
}
