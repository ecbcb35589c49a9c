// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// TestCloseEndsWhatIsOpen closes a server with a watch, a stalled watch and a read that waits.
func TestCloseEndsWhatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		client := typedClient(t, srv)
		stalled := watchConfigMaps(t, client, watchOptions(srv.ResourceVersion(), time.Hour))
		synctest.Wait()
		srv.Stall(configMaps)
		open := watchConfigMaps(t, client, watchOptions(srv.ResourceVersion(), time.Hour))
		srv.FreezeWatchCache(configMaps)
		srv.Bump(1)
		var err error
		var reading sync.WaitGroup
		reading.Go(func() { _, err = listOnce(t, client) })
		pass(time.Second)
		srv.Close()
		reading.Wait()
		synctest.Wait()
		if err == nil {
			t.Error("the read that waited has succeeded")
		}
		for name, rec := range map[string]*recording{"stalled": stalled, "open": open} {
			if at, _ := rec.end(); at != time.Second {
				t.Errorf("the %s watch ended after %v, want 1s", name, at)
			}
		}
		if got := srv.Watches(configMaps); got != 0 {
			t.Errorf("%d watches are open", got)
		}
	})
}

// TestCloseEndsABlackHole has a client that would never find out by itself, as HTTP/1.1 has no PING.
func TestCloseEndsABlackHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		rec := watchConfigMaps(t, http1Client(t, srv), watchOptions(srv.ResourceVersion(), time.Hour))
		srv.BlackHole()
		pass(time.Minute)
		srv.Close()
		synctest.Wait()
		if at, _ := rec.end(); at != time.Minute {
			t.Errorf("the watch ended after %v, want 1 min", at)
		}
	})
}

func http1Client(t *testing.T, srv *freshtest.Server) kubernetes.Interface {
	t.Helper()
	cfg := srv.Config()
	cfg.NextProtos = []string{"http/1.1"}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestReadEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{FreshWait: time.Hour})
		client := typedClient(t, srv)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		err := client.CoreV1().RESTClient().Get().Resource("configmaps").Param("resourceVersion", "999").Do(ctx).Error()
		if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took != time.Minute {
			t.Errorf("%v after %v, want the deadline after 1 min", err, took)
		}
	})
}

func TestHTTP1(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		rec := watchConfigMaps(t, http1Client(t, srv), watchOptions(srv.ResourceVersion(), time.Minute))
		mustCreate(t, srv, configMap("a"))
		pass(time.Minute)
		if diff := cmp.Diff([]string{"ADDED a"}, names(rec.take())[:1]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if at, status := rec.end(); at != time.Minute || status != nil {
			t.Errorf("the watch ended after %v, %v; want 1 min", at, status)
		}
		if got := srv.Log()[0].Proto; got != "HTTP/1.1" {
			t.Errorf("the protocol is %s", got)
		}
	})
}

func TestFreezesAddUp(t *testing.T) {
	srv := start(t, freshtest.Options{})
	one, all := srv.FreezeWatchCache(configMaps), srv.FreezeWatchCache(widgets)
	two := srv.FreezeWatchCache(configMaps)
	mustCreate(t, srv, configMap("a"))
	for i, want := range []uint64{100, 101, 101} {
		[]*freshtest.Fault{one, two, all}[i].Lift()
		if got := srv.WatchCacheResourceVersion(configMaps); got != want {
			t.Errorf("with %d faults lifted the watch cache is at %d, want %d", i+1, got, want)
		}
	}
}
