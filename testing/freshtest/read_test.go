// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// listOnce lists ConfigMaps in all namespaces by a query. It does not retry, which client-go does for a 504.
func listOnce(t *testing.T, client kubernetes.Interface, query ...string) (*corev1.ConfigMapList, error) {
	t.Helper()
	request := client.CoreV1().RESTClient().Get().Resource("configmaps").MaxRetries(0)
	for i := 0; i < len(query); i += 2 {
		request.Param(query[i], query[i+1])
	}
	list := &corev1.ConfigMapList{}
	return list, request.Do(t.Context()).Into(list)
}

// getOnce gets a ConfigMap of the default namespace at an RV, without retries.
func getOnce(t *testing.T, client kubernetes.Interface, name, resourceVersion string) error {
	t.Helper()
	request := client.CoreV1().RESTClient().Get().Namespace("default").Resource("configmaps").Name(name).MaxRetries(0)
	if resourceVersion != "" {
		request.Param("resourceVersion", resourceVersion)
	}
	return request.Do(t.Context()).Error()
}

func format(rv uint64) string { return strconv.FormatUint(rv, 10) }

// TestReads goes through what a list or a get means for a kind whose watch cache is behind: at RV 101, with a; the
// global RV is 111 when it lags, and 112 with b when it is frozen.
func TestReads(t *testing.T) {
	const cached, global = 101, 111
	type result struct {
		Code  int
		RV    uint64
		Items int
		Took  time.Duration
		Cache uint64 // where the watch cache is afterwards
	}
	for _, tt := range []struct {
		name   string
		frozen bool
		query  []string
		get    string // get this name instead of a list,
		at     string // at this RV
		want   result
	}{
		{name: "consistent", want: result{200, global, 1, 0, global}},
		{name: "consistent with a limit", query: []string{"limit", "1"}, want: result{200, global, 1, 0, global}},
		{name: "any", query: []string{"resourceVersion", "0"}, want: result{200, cached, 1, 0, cached}},
		{
			name: "not older than the cache", want: result{200, cached, 1, 0, cached},
			query: []string{"resourceVersion", format(cached), "resourceVersionMatch", "NotOlderThan"},
		},
		{
			name: "not older than now", want: result{200, global, 1, 0, global},
			query: []string{"resourceVersion", format(global), "resourceVersionMatch", "NotOlderThan"},
		},
		{
			name: "not older than the future", want: result{504, 0, 0, 3 * time.Second, global},
			query: []string{"resourceVersion", "999", "resourceVersionMatch", "NotOlderThan"},
		},
		{
			name: "exact", want: result{200, 100, 0, 0, cached},
			query: []string{"resourceVersion", "100", "resourceVersionMatch", "Exact"},
		},
		{
			name: "a limit and an RV is exact", want: result{200, 100, 0, 0, cached},
			query: []string{"resourceVersion", "100", "limit", "5"},
		},
		{
			name: "exact before the beginning", want: result{410, 0, 0, 0, cached},
			query: []string{"resourceVersion", "99", "resourceVersionMatch", "Exact"},
		},
		{
			name: "match without an RV", want: result{422, 0, 0, 0, cached},
			query: []string{"resourceVersionMatch", "NotOlderThan"},
		},
		{name: "RV that is no number", want: result{400, 0, 0, 0, cached}, query: []string{"resourceVersion", "x"}},
		{name: "continue that is none", want: result{400, 0, 0, 0, cached}, query: []string{"continue", "x"}},
		{name: "get", get: "a", want: result{200, 0, 0, 0, cached}},
		{name: "get an absent name", get: "x", want: result{404, 0, 0, 0, cached}},
		{
			name: "get an absent name at now", get: "x", at: format(global), want: result{404, 0, 0, 0, global},
		},

		{name: "frozen: consistent", frozen: true, want: result{200, global + 1, 2, 3 * time.Second, cached}},
		{name: "frozen: any", frozen: true, query: []string{"resourceVersion", "0"}, want: result{200, cached, 1, 0, cached}},
		{
			name: "frozen: not older than now", frozen: true, want: result{504, 0, 0, 3 * time.Second, cached},
			query: []string{"resourceVersion", format(global), "resourceVersionMatch", "NotOlderThan"},
		},
		{name: "frozen: get", frozen: true, get: "b", want: result{200, 0, 0, 0, cached}},
		{
			name: "frozen: get from the cache", frozen: true, get: "b", at: "0", want: result{404, 0, 0, 0, cached},
		},
		{
			name: "frozen: get an absent name at now", frozen: true, get: "x", at: format(global),
			want: result{504, 0, 0, 3 * time.Second, cached},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t, freshtest.Options{})
				client := typedClient(t, srv)
				mustCreate(t, srv, configMap("a"))
				srv.Bump(10)
				if tt.frozen {
					srv.FreezeWatchCache(configMaps)
					mustCreate(t, srv, configMap("b"))
				}
				begin := time.Now()
				var got result
				var err error
				if tt.get == "" {
					var list *corev1.ConfigMapList
					if list, err = listOnce(t, client, tt.query...); err == nil {
						got.RV, got.Items = rv(t, list), len(list.Items)
					}
				} else {
					err = getOnce(t, client, tt.get, tt.at)
				}
				got.Took = time.Since(begin)
				got.Code = codeOf(err)
				got.Cache = srv.WatchCacheResourceVersion(configMaps)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			})
		})
	}
}

// codeOf returns the HTTP status of an error of a client.
func codeOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	if status, ok := err.(apierrors.APIStatus); ok {
		return int(status.Status().Code)
	}
	return 0
}

func TestTooLargeResourceVersionIsAsInKubeAPIServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		err := getOnce(t, typedClient(t, srv), "a", "999")
		if !apierrors.IsTimeout(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
			t.Errorf("%#v is no timeout with the cause", err)
		}
		want := metav1.Status{
			Status:  metav1.StatusFailure,
			Message: "Timeout: Too large resource version: 999, current: 100",
			Reason:  metav1.StatusReasonTimeout,
			Details: &metav1.StatusDetails{
				RetryAfterSeconds: 1,
				Causes: []metav1.StatusCause{
					{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"},
				},
			},
			Code: http.StatusGatewayTimeout,
		}
		if diff := cmp.Diff(want, err.(apierrors.APIStatus).Status()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestRejectStaleLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{RejectStaleLists: true})
		client := typedClient(t, srv)
		srv.FreezeWatchCache(configMaps)
		mustCreate(t, srv, configMap("b"))
		if _, err := listOnce(t, client); !apierrors.IsTooManyRequests(err) {
			t.Errorf("a consistent list of a frozen cache: %v, want 429", err)
		}
	})
}

func TestReadIsAnsweredWhenTheCacheThaws(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		client := typedClient(t, srv)
		fault := srv.FreezeWatchCache(configMaps)
		mustCreate(t, srv, configMap("b"))
		time.AfterFunc(2*time.Second, fault.Lift)
		begin := time.Now()
		list, err := listOnce(t, client)
		if took := time.Since(begin); err != nil || len(list.Items) != 1 || took != 2*time.Second {
			t.Errorf("after %v: %d items, %v; want b after 2s", took, len(list.Items), err)
		}
	})
}

func TestProgressDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{ProgressDelay: 97 * time.Millisecond})
		client := typedClient(t, srv)
		srv.Bump(1)
		for _, want := range []time.Duration{97 * time.Millisecond, 0} {
			begin := time.Now()
			listConfigMaps(t, client)
			if took := time.Since(begin); took != want {
				t.Errorf("a consistent list took %v, want %v", took, want)
			}
		}
	})
}

func TestPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		client := typedClient(t, srv)
		for i := range 7 {
			mustCreate(t, srv, configMap(fmt.Sprintf("cm-%d", i)))
		}
		begin := srv.ResourceVersion()
		var got []string
		options := metav1.ListOptions{Limit: 3}
		for page := range 3 {
			list, err := client.CoreV1().ConfigMaps("").List(t.Context(), options)
			if err != nil {
				t.Fatal(err)
			}
			if rv(t, list) != begin {
				t.Errorf("page %d is at RV %d, want %d as the first", page, rv(t, list), begin)
			}
			if got, want := ptr.Deref(list.RemainingItemCount, 0), int64(max(0, 7-3*(page+1))); got != want {
				t.Errorf("page %d: %d items remain, want %d", page, got, want)
			}
			for _, cm := range list.Items {
				got = append(got, cm.Name)
			}
			options.Continue = list.Continue
			mustCreate(t, srv, configMap(fmt.Sprintf("later-%d", page))) // not in the pages to come
		}
		want := []string{"cm-0", "cm-1", "cm-2", "cm-3", "cm-4", "cm-5", "cm-6"}
		if diff := cmp.Diff(want, got); diff != "" || options.Continue != "" {
			t.Errorf("continue %q, (-want +got):\n%s", options.Continue, diff)
		}
	})
}

func TestLimitIsIgnoredAtAnyRV(t *testing.T) {
	srv := start(t, freshtest.Options{})
	mustCreate(t, srv, configMap("a"), configMap("b"))
	list, err := listOnce(t, typedClient(t, srv), "resourceVersion", "0", "limit", "1")
	if err != nil || len(list.Items) != 2 || list.Continue != "" {
		t.Errorf("%d items, continue %q, %v; want both", len(list.Items), list.Continue, err)
	}
}

func TestPageAfterCompactionIsGone(t *testing.T) {
	srv := start(t, freshtest.Options{})
	client := typedClient(t, srv)
	mustCreate(t, srv, configMap("a"), configMap("b"))
	list, err := client.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	mustCreate(t, srv, configMap("c"))
	srv.Compact()
	_, err = client.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{Limit: 1, Continue: list.Continue})
	if !apierrors.IsResourceExpired(err) {
		t.Errorf("the next page: %v, want 410", err)
	}
}

func TestSelectors(t *testing.T) {
	srv := start(t, freshtest.Options{})
	client := typedClient(t, srv)
	for _, cm := range []*corev1.ConfigMap{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "a", Labels: map[string]string{"app": "x"}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "b", Labels: map[string]string{"app": "y"}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "two", Name: "a"}},
	} {
		mustCreate(t, srv, cm)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "p"}}
	pod.Spec.NodeName = "n"
	mustCreate(t, srv, pod)
	for _, tt := range []struct {
		name, namespace, labels, fields string
		want                            []string
		code                            int
	}{
		{name: "all", want: []string{"one/a", "one/b", "two/a"}},
		{name: "namespace", namespace: "one", want: []string{"one/a", "one/b"}},
		{name: "label", labels: "app=x", want: []string{"one/a"}},
		{name: "label that is absent", labels: "!app", want: []string{"two/a"}},
		{name: "name", fields: "metadata.name=a", want: []string{"one/a", "two/a"}},
		{name: "namespace as a field", fields: "metadata.namespace=two", want: []string{"two/a"}},
		{name: "field that cannot be selected by", fields: "data.x=y", code: http.StatusBadRequest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, err := client.CoreV1().ConfigMaps(tt.namespace).List(t.Context(),
				metav1.ListOptions{LabelSelector: tt.labels, FieldSelector: tt.fields})
			if tt.code != 0 {
				if got := codeOf(err); got != tt.code {
					t.Errorf("%v, want %d", err, tt.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, cm := range list.Items {
				got = append(got, cm.Namespace+"/"+cm.Name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for selector, want := range map[string]int{"spec.nodeName=n": 1, "spec.nodeName=": 0, "status.phase=": 1} {
		pods, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{FieldSelector: selector})
		if err != nil || len(pods.Items) != want {
			t.Errorf("pods with %s: %d, %v; want %d", selector, len(pods.Items), err, want)
		}
	}
}
