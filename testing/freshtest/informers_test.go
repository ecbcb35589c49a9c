// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientfeatures "k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// startInformer runs an informer until the end of the test.
func startInformer(t *testing.T, informer cache.SharedIndexInformer) cache.SharedIndexInformer {
	t.Helper()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		informer.Run(stop)
	}()
	t.Cleanup(func() {
		close(stop)
		<-done
	})
	return informer
}

func configMapInformer(
	t *testing.T, srv *freshtest.Server, options ...informers.SharedInformerOption,
) cache.SharedIndexInformer {
	t.Helper()
	factory := informers.NewSharedInformerFactoryWithOptions(typedClient(t, srv), 0, options...)
	return startInformer(t, factory.Core().V1().ConfigMaps().Informer())
}

// widgetInformers makes informers of every kind of client, of typed clients for ConfigMaps and of others for Widgets.
func widgetInformers() map[string]func(*testing.T, *freshtest.Server) cache.SharedIndexInformer {
	return map[string]func(*testing.T, *freshtest.Server) cache.SharedIndexInformer{
		"dynamic": func(t *testing.T, srv *freshtest.Server) cache.SharedIndexInformer {
			client, err := dynamic.NewForConfig(srv.Config())
			if err != nil {
				t.Fatal(err)
			}
			return dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(widgets).Informer()
		},
		"metadata": func(t *testing.T, srv *freshtest.Server) cache.SharedIndexInformer {
			client, err := metadata.NewForConfig(srv.Config())
			if err != nil {
				t.Fatal(err)
			}
			return metadatainformer.NewSharedInformerFactory(client, 0).ForResource(widgets).Informer()
		},
	}
}

// contents returns what an informer's store holds, as "name@RV", sorted.
func contents(t *testing.T, informer cache.SharedIndexInformer) []string {
	t.Helper()
	var out []string
	for _, obj := range informer.GetStore().List() {
		m, err := meta.Accessor(obj)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, m.GetName()+"@"+m.GetResourceVersion())
	}
	slices.Sort(out)
	return out
}

// TestInformers follows a life of creations, changes and deletions by WatchList and by LIST and WATCH.
func TestInformers(t *testing.T) {
	for _, watchList := range []bool{true, false} {
		for name, newInformer := range widgetInformers() {
			t.Run(name+map[bool]string{true: " by WatchList", false: " by LIST"}[watchList], func(t *testing.T) {
				featurestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, watchList)
				synctest.Test(t, func(t *testing.T) {
					srv := start(t, freshtest.Options{})
					mustCreate(t, srv, widget("a", 1), widget("b", 1))
					srv.Bump(7)
					informer := startInformer(t, newInformer(t, srv))
					freshtest.WaitForSync(t, informer.HasSynced)
					if diff := cmp.Diff([]string{"a@101", "b@102"}, contents(t, informer)); diff != "" {
						t.Errorf("synced (-want +got):\n%s", diff)
					}
					mustCreate(t, srv, widget("c", 1))
					if err := srv.Update(widget("a", 2)); err != nil {
						t.Fatal(err)
					}
					if err := srv.Delete(widget("b", 1)); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					if diff := cmp.Diff([]string{"a@111", "c@110"}, contents(t, informer)); diff != "" {
						t.Errorf("changed (-want +got):\n%s", diff)
					}
					if got := informer.LastSyncResourceVersion(); got != "112" {
						t.Errorf("the reflector is at %s, want 112, the deletion", got)
					}
					lists := srv.Requests(widgets, "list")
					if watchList && lists != 0 || !watchList && lists == 0 {
						t.Errorf("%d LISTs", lists)
					}
				})
			})
		}
	}
}

func TestInformerRenewsItsWatchWithoutRelist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		informer := configMapInformer(t, srv)
		freshtest.WaitForSync(t, informer.HasSynced)
		pass(time.Hour)
		mustCreate(t, srv, configMap("a"))
		synctest.Wait()
		if diff := cmp.Diff([]string{"a@101"}, contents(t, informer)); diff != "" {
			t.Errorf("after an hour (-want +got):\n%s", diff)
		}
		initial := 0
		for _, r := range srv.Log() {
			if r.Proto != "HTTP/2.0" || r.Code != 200 {
				t.Errorf("%+v", r)
			}
			if r.SendInitialEvents {
				initial++
			}
			if r.TimeoutSeconds < 300 || r.TimeoutSeconds > 600 {
				t.Errorf("timeoutSeconds = %d, want what reflectors ask for", r.TimeoutSeconds)
			}
		}
		if watches := srv.Requests(configMaps, "watch"); initial != 1 || watches < 6 || watches > 13 {
			t.Errorf("%d watches, %d with initial events; want 1 with and one each 5 to 10 min", watches, initial)
		}
		if got := srv.Connections(); got != 1 {
			t.Errorf("%d connections, want 1", got)
		}
	})
}

func TestInformerWithSelectors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		informer := configMapInformer(t, srv, informers.WithNamespace("default"),
			informers.WithTweakListOptions(func(o *metav1.ListOptions) {
				o.LabelSelector = "app=x"
				o.FieldSelector = "metadata.name!=never"
			}))
		freshtest.WaitForSync(t, informer.HasSynced)
		var got []string
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { got = append(got, "add") },
			UpdateFunc: func(any, any) { got = append(got, "update") },
			DeleteFunc: func(any) { got = append(got, "delete") },
		})
		if err != nil {
			t.Fatal(err)
		}
		cm := configMap("a")
		other := configMap("a")
		other.Namespace, other.Labels = "other", map[string]string{"app": "x"}
		never := configMap("never")
		never.Labels = other.Labels
		mustCreate(t, srv, cm, other, never)
		for _, labels := range []map[string]string{{"app": "x"}, {"app": "x", "more": "y"}, {"app": "z"}, {"app": "x"}} {
			cm.Labels = labels
			if err := srv.Update(cm); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if diff := cmp.Diff("add update delete add", strings.Join(got, " ")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestBeginnings has watches begin in every way, for a kind whose watch cache is behind.
func TestBeginnings(t *testing.T) {
	no := false
	for _, tt := range []struct {
		name    string
		options metav1.ListOptions
		want    []string
		cache   uint64 // where the watch cache is afterwards
	}{
		{"without an RV", metav1.ListOptions{}, []string{"ADDED a"}, 111},
		{"with bookmarks", metav1.ListOptions{AllowWatchBookmarks: true}, []string{"ADDED a", "BOOKMARK "}, 111},
		{"from 0", metav1.ListOptions{ResourceVersion: "0"}, []string{"ADDED a"}, 101},
		{"from an RV before a", metav1.ListOptions{ResourceVersion: "100"}, []string{"ADDED a"}, 101},
		{"from the RV of a", metav1.ListOptions{ResourceVersion: "101"}, nil, 101},
		{"from before the beginning", metav1.ListOptions{ResourceVersion: "99"}, []string{"ERROR "}, 101},
		{"of one name", metav1.ListOptions{FieldSelector: "metadata.name=x"}, nil, 111},
		{
			"without initial events",
			metav1.ListOptions{
				ResourceVersion: "0", SendInitialEvents: &no, AllowWatchBookmarks: true,
				ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
			},
			nil, 101,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t, freshtest.Options{})
				mustCreate(t, srv, configMap("a"))
				srv.Bump(10)
				rec := watchConfigMaps(t, typedClient(t, srv), tt.options)
				synctest.Wait()
				if diff := cmp.Diff(tt.want, names(rec.take())); diff != "" {
					t.Errorf("at its beginning (-want +got):\n%s", diff)
				}
				if got := srv.WatchCacheResourceVersion(configMaps); got != tt.cache {
					t.Errorf("the watch cache is at %d, want %d", got, tt.cache)
				}
				if _, status := rec.end(); status != nil {
					if status.Code != http.StatusGone {
						t.Errorf("it ended with %v, want 410", status)
					}
					return
				}
				mustCreate(t, srv, configMap("x"))
				synctest.Wait()
				if diff := cmp.Diff([]string{"ADDED x"}, names(rec.take())); diff != "" {
					t.Errorf("and then (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestWatchWithoutTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		rec := watchConfigMaps(t, typedClient(t, srv), metav1.ListOptions{})
		pass(61 * time.Minute)
		if at, status := rec.end(); at < 30*time.Minute || at > time.Hour || status != nil {
			t.Errorf("it ended after %v (%v), want 30 min to 1 h", at, status)
		}
	})
}
