// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest_test

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

func TestStallSilencesOpenWatchesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		client := typedClient(t, srv)
		now := srv.ResourceVersion()
		old := watchConfigMaps(t, client, watchOptions(now, 90*time.Second))
		other, err := client.CoreV1().Secrets("").Watch(t.Context(), watchOptions(now, time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		untouched := record(t, other)

		stall := srv.Stall(configMaps)
		young := watchConfigMaps(t, client, watchOptions(now, time.Hour))
		mustCreate(t, srv, configMap("a"), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}})
		pass(100 * time.Second)
		mustCreate(t, srv, configMap("late"))
		pass(20 * time.Second)
		if got := old.take(); got != nil {
			t.Errorf("the stalled watch delivered %v", got)
		}
		if at, _ := old.end(); at != 0 {
			t.Errorf("the stalled watch ended after %v, past its timeout", at)
		}
		if diff := cmp.Diff([]string{"ADDED a", "BOOKMARK ", "ADDED late"}, names(young.take())); diff != "" {
			t.Errorf("a new watch of the kind (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"ADDED s", "BOOKMARK "}, names(untouched.take())); diff != "" {
			t.Errorf("a watch of another kind (-want +got):\n%s", diff)
		}
		if got := stall.Hits(); got != 1 {
			t.Errorf("Hits = %d, want the one watch", got)
		}
		if got := srv.Connections(); got != 1 {
			t.Errorf("%d connections: the stalled one should have stayed", got)
		}

		stall.Lift()
		stall.Lift()
		synctest.Wait()
		if got := names(old.take()); len(got) == 0 || got[0] != "ADDED a" || slices.Contains(got, "ADDED late") {
			t.Errorf("lifted, the watch delivers %v, want what was held back, up to its timeout", got)
		}
		if at, status := old.end(); at != 2*time.Minute || status != nil {
			t.Errorf("lifted, the watch ended after %v, %v; want its overdue end", at, status)
		}
	})
}

func TestStallOfANamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		client := typedClient(t, srv)
		watches := map[string]*recording{}
		for _, namespace := range []string{"", "default", "other"} {
			w, err := client.CoreV1().ConfigMaps(namespace).Watch(t.Context(), watchOptions(srv.ResourceVersion(), time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			watches[namespace] = record(t, w)
		}
		synctest.Wait()
		srv.Stall(configMaps, "default")
		mustCreate(t, srv, configMap("a"))
		synctest.Wait()
		for namespace, want := range map[string][]string{"": {"ADDED a"}, "default": nil, "other": nil} {
			if diff := cmp.Diff(want, names(watches[namespace].take())); diff != "" {
				t.Errorf("the watch of namespace %q (-want +got):\n%s", namespace, diff)
			}
		}
	})
}

func TestStallNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		client := typedClient(t, srv)
		old := watchConfigMaps(t, client, watchOptions(srv.ResourceVersion(), time.Hour))
		stall := srv.StallNew(configMaps)
		mustCreate(t, srv, configMap("a"))
		young := watchConfigMaps(t, client, watchListOptions(time.Hour))
		synctest.Wait()
		if got := names(old.take()); len(got) != 1 {
			t.Errorf("the old watch delivered %v, want a", got)
		}
		if got := young.take(); got != nil {
			t.Errorf("the new watch delivered %v", got)
		}
		stall.Lift()
		synctest.Wait()
		if diff := cmp.Diff([]string{"ADDED a", "BOOKMARK "}, names(young.take())); diff != "" {
			t.Errorf("lifted, the new watch (-want +got):\n%s", diff)
		}
	})
}

// TestStalledInformer shows what the fault is for, and that it is one: stock client-go does not notice.
func TestStalledInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		informer := configMapInformer(t, srv)
		freshtest.WaitForSync(t, informer.HasSynced)
		stall := srv.Stall(configMaps)
		mustCreate(t, srv, configMap("a"))
		pass(25 * time.Minute)
		if got := contents(t, informer); got != nil {
			t.Fatalf("the informer has seen %v through a stalled watch", got)
		}
		stall.Lift()
		synctest.Wait()
		if diff := cmp.Diff([]string{"a@101"}, contents(t, informer)); diff != "" {
			t.Errorf("lifted (-want +got):\n%s", diff)
		}
	})
}

func TestFreezeWatchCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		client := typedClient(t, srv)
		mustCreate(t, srv, configMap("a"))
		rec := watchConfigMaps(t, client, watchOptions(srv.ResourceVersion(), time.Hour))
		freeze := srv.FreezeWatchCache(configMaps)
		mustCreate(t, srv, configMap("b"))
		ahead := watchConfigMaps(t, client, watchOptions(srv.ResourceVersion(), time.Hour))
		initial := watchConfigMaps(t, client, watchListOptions(time.Hour))
		pass(10 * time.Second)
		if got := append(rec.take(), ahead.take()...); got != nil {
			t.Errorf("watches of a frozen cache delivered %v", got)
		}
		if _, status := initial.end(); status == nil || status.Code != http.StatusGatewayTimeout {
			t.Errorf("WatchList of a frozen cache ended with %v, want 504", status)
		}
		if got := listSecrets(t, client); got != srv.ResourceVersion() {
			t.Errorf("another kind is at %d, want %d", got, srv.ResourceVersion())
		}
		freeze.Lift()
		mustCreate(t, srv, configMap("c"))
		synctest.Wait()
		if diff := cmp.Diff([]string{"ADDED b", "ADDED c"}, names(rec.take())); diff != "" {
			t.Errorf("thawed (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"ADDED c"}, names(ahead.take())); diff != "" {
			t.Errorf("thawed, the watch from b (-want +got):\n%s", diff)
		}
	})
}

func listSecrets(t *testing.T, client kubernetes.Interface) uint64 {
	t.Helper()
	list, err := client.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return rv(t, list)
}

func TestDropEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		informer := configMapInformer(t, srv)
		freshtest.WaitForSync(t, informer.HasSynced)
		fault := srv.DropEvents(configMaps, 2)
		mustCreate(t, srv, configMap("a"), configMap("b"), configMap("c"))
		synctest.Wait()
		if diff := cmp.Diff([]string{"c@103"}, contents(t, informer)); diff != "" {
			t.Errorf("the informer (-want +got):\n%s", diff)
		}
		if got := fault.Hits(); got != 2 {
			t.Errorf("Hits = %d, want 2", got)
		}
		if list, err := listOnce(t, typedClient(t, srv)); err != nil || len(list.Items) != 3 {
			t.Errorf("a list has %d items, %v; want 3", len(list.Items), err)
		}
	})
}

func TestWithholdInitialEventsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		mustCreate(t, srv, configMap("a"))
		fault := srv.WithholdInitialEventsEnd(configMaps)
		informer := configMapInformer(t, srv)
		pass(2 * time.Minute)
		if informer.HasSynced() {
			t.Error("the informer has synced without the end of the initial events")
		}
		fault.Lift()
		pass(11 * time.Minute) // the watch ends with its timeout, and the next one is complete
		if !informer.HasSynced() {
			t.Error("the informer has not synced after the fault")
		}
	})
}

// TestExpired has a reflector resume from an RV that is forgotten: it is told 410 and lists again.
func TestExpired(t *testing.T) {
	for name, expire := range map[string]func(*freshtest.Server){
		"by compaction": func(srv *freshtest.Server) {
			stall := srv.Stall(configMaps)
			mustUpdate(srv, configMap("a"))
			srv.Compact()
			srv.DropConnections()
			stall.Lift()
		},
		"by script": func(srv *freshtest.Server) {
			srv.Respond(configMaps, "watch", http.StatusGone, 1)
			srv.EndWatches(configMaps)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t, freshtest.Options{})
				mustCreate(t, srv, configMap("a"))
				informer := configMapInformer(t, srv)
				freshtest.WaitForSync(t, informer.HasSynced)
				pass(10 * time.Second) // a watch that ends within a second and without an event is an error to a reflector
				expire(srv)
				pass(time.Minute)
				mustCreate(t, srv, configMap("b"))
				synctest.Wait()
				if got := len(contents(t, informer)); got != 2 {
					t.Errorf("%d objects after the relist, want 2", got)
				}
				relists := 0
				for _, r := range srv.Log()[1:] {
					if r.Verb == "list" || r.SendInitialEvents {
						relists++
					}
				}
				if relists != 1 {
					t.Errorf("%d relists, want 1", relists)
				}
			})
		})
	}
}

// mustUpdate changes an object; there is nothing that could refuse it.
func mustUpdate(srv *freshtest.Server, cm *corev1.ConfigMap) {
	cm.Data = map[string]string{"changed": "yes"}
	_ = srv.Update(cm)
}

// TestRewind restores a backup: what clients hold is then in the future.
func TestRewind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		client := typedClient(t, srv)
		mustCreate(t, srv, configMap("a"))
		backup := srv.Snapshot()
		srv.Bump(10)
		mustCreate(t, srv, configMap("b"))
		future := srv.ResourceVersion()
		rec := watchConfigMaps(t, client, watchOptions(future, time.Hour))

		srv.Rewind(backup)
		synctest.Wait()
		if at, status := rec.end(); at == 0 && status == nil && srv.Watches(configMaps) != 0 {
			t.Error("the watch from before goes on")
		}
		if got := srv.ResourceVersion(); got != future-11 {
			t.Errorf("the global RV is %d, want %d", got, future-11)
		}
		if list, err := listOnce(t, client); err != nil || len(list.Items) != 1 {
			t.Errorf("%d items, %v; want a alone", len(list.Items), err)
		}
		_, err := listOnce(t, client, "resourceVersion", format(future), "resourceVersionMatch", "NotOlderThan")
		if got := codeOf(err); got != http.StatusGatewayTimeout {
			t.Errorf("a list at the future: %v, want 504", err)
		}
		rec = watchConfigMaps(t, client, watchOptions(future, time.Hour))
		mustCreate(t, srv, configMap("c"))
		pass(5 * time.Minute)
		if got := rec.take(); got != nil {
			t.Errorf("a watch from the future delivered %v", got)
		}
		srv.Bump(20)
		mustCreate(t, srv, configMap("d"))
		synctest.Wait()
		if diff := cmp.Diff([]string{"ADDED d"}, names(rec.take())); diff != "" {
			t.Errorf("once the future has come (-want +got):\n%s", diff)
		}
	})
}

func TestDropConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		informer := configMapInformer(t, srv)
		freshtest.WaitForSync(t, informer.HasSynced)
		refuse := srv.Refuse()
		srv.DropConnections()
		mustCreate(t, srv, configMap("a"))
		pass(5 * time.Minute)
		if got := contents(t, informer); got != nil {
			t.Errorf("the informer has seen %v while connections are refused", got)
		}
		refuse.Lift()
		pass(time.Minute)
		if got := contents(t, informer); len(got) != 1 || srv.Connections() != 2 {
			t.Errorf("the informer has %v over %d connections, want a over the second", got, srv.Connections())
		}
	})
}

// TestBlackHole has client-go's PING find the dead connection: 30 s without a byte, and 15 s without an answer.
func TestBlackHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		informer := configMapInformer(t, srv)
		freshtest.WaitForSync(t, informer.HasSynced)
		hole := srv.BlackHole()
		mustCreate(t, srv, configMap("a"))
		pass(44 * time.Second)
		if got := contents(t, informer); got != nil {
			t.Errorf("the informer has seen %v through a black hole", got)
		}
		pass(10 * time.Second)
		if got := contents(t, informer); len(got) != 1 {
			t.Errorf("the informer has %v, want a over a new connection", got)
		}
		if got := hole.Hits(); got != 1 {
			t.Errorf("Hits = %d, want the one connection", got)
		}
	})
}

func TestRespond(t *testing.T) {
	srv := start(t, freshtest.Options{})
	client := typedClient(t, srv)
	for _, code := range []int{401, 403, 404, 409, 410, 418, 429, 500, 503, 504} {
		fault := srv.Respond(configMaps, "list", code, 1)
		_, err := listOnce(t, client)
		if got := codeOf(err); got != code {
			t.Errorf("answered with %v, want %d", err, code)
		}
		if _, err := listOnce(t, client); err != nil {
			t.Errorf("%d, the next time: %v", code, err)
		}
		if got := fault.Hits(); got != 1 {
			t.Errorf("Hits = %d, want 1", got)
		}
	}
	all := srv.Respond(schema.GroupVersionResource{}, "", http.StatusUnauthorized, 0)
	for range 3 {
		if _, err := client.Discovery().ServerVersion(); codeOf(err) != http.StatusUnauthorized {
			t.Errorf("version: %v, want 401", err)
		}
	}
	all.Lift()
	if _, err := client.Discovery().ServerVersion(); err != nil {
		t.Errorf("lifted: %v", err)
	}
}

func TestWrongTokenIsUnauthorized(t *testing.T) {
	srv := start(t, freshtest.Options{Token: "right"})
	cfg := srv.Config()
	cfg.BearerToken = "wrong"
	if _, err := discoveryClient(t, cfg).ServerVersion(); codeOf(err) != http.StatusUnauthorized {
		t.Errorf("%v, want 401", err)
	}
}

func TestDeny(t *testing.T) {
	srv := start(t, freshtest.Options{})
	client := typedClient(t, srv)
	allowed := func(verb, resource string) bool {
		t.Helper()
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Resource: resource},
		}}
		review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return review.Status.Allowed
	}
	fault := srv.Deny(configMaps, "list", "watch")
	if _, err := listOnce(t, client); codeOf(err) != http.StatusForbidden {
		t.Errorf("list: %v, want 403", err)
	}
	if allowed("list", "configmaps") || !allowed("get", "configmaps") || !allowed("list", "secrets") {
		t.Error("the access reviews do not say that list of configmaps, and nothing else, is denied")
	}
	fault.Lift()
	if _, err := listOnce(t, client); err != nil || !allowed("list", "configmaps") {
		t.Errorf("lifted: %v", err)
	}
}

func TestInformerOfANamespaceThatIsDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		fault := srv.Deny(configMaps)
		informer := configMapInformer(t, srv, informers.WithNamespace("default"))
		pass(time.Minute)
		if informer.HasSynced() {
			t.Error("the informer has synced without permission")
		}
		fault.Lift()
		pass(time.Minute)
		if !informer.HasSynced() {
			t.Error("the informer has not synced with permission")
		}
	})
}

// misuse collects what a server says of its misuse.
type misuse []string

func (m *misuse) Errorf(format string, _ ...any) { *m = append(*m, format) }

func TestMisuseIsReported(t *testing.T) {
	for name, misuses := range map[string]func(*freshtest.Server){
		"kind that is not served": func(srv *freshtest.Server) { srv.Stall(schema.GroupVersionResource{Resource: "gone"}) },
		"code that is none":       func(srv *freshtest.Server) { srv.Respond(configMaps, "", 200, 1) },
		"no snapshot":             func(srv *freshtest.Server) { srv.Rewind(nil) },
		"snapshot of another server": func(srv *freshtest.Server) {
			srv.Rewind(freshtest.Start(t, freshtest.Options{}).Snapshot())
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got misuse
			srv := start(t, freshtest.Options{Errorf: got.Errorf})
			misuses(srv)
			if len(got) != 1 {
				t.Errorf("reported: %q, want one error", got)
			}
		})
	}
}
