// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// The clients of a scenario, by user agent.
const (
	guardedAgent = "e2e-guarded"
	stockAgent   = "e2e-stock"
)

// backend is a server on which scenarios run: one kind in one namespace, faults
// that are made on command, and an account of what each client asked for. The
// functions that make faults return those that lift them.
type backend interface {
	name() string
	namespace() string
	// config returns the configuration of a client with no more rights than an
	// informer needs.
	config(agent string) *rest.Config
	// put stores an object as someone else, whatever the faults.
	put(t testing.TB, name, color string)
	// admin returns a client of someone else.
	admin() dynamic.Interface
	// requests returns how many requests the client has made, and refilled how
	// many objects it was sent to fill its cache.
	requests(agent string) int64
	refilled(agent string) int64
	// slowestProof returns how long the client's reads take.
	slowestProof(agent string) time.Duration

	// silence kills the open watches: not a byte more, and no end.
	silence(t testing.TB) (lift func())
	// freezeWatchCache stops the API server's own watch.
	freezeWatchCache(t testing.TB) (lift func())
	// withholdInitialEnd makes streams of initial events endless.
	withholdInitialEnd(t testing.TB) (lift func())
	// withholdBookmarks keeps back all bookmarks but those that end initial events.
	withholdBookmarks(t testing.TB) (lift func())
	// forbidLists takes the permission to list.
	forbidLists(t testing.TB) (lift func())
	// refuse resets all connections and refuses new ones.
	refuse(t testing.TB) (lift func())
	// swallow loses all bytes, on old connections and on new ones.
	swallow(t testing.TB) (lift func())
	// backUp copies the datastore, and then lets the cluster move on.
	backUp(t testing.TB)
	// restore puts the copy back.
	restore(t testing.TB) (lift func())
}

// contents returns what the server has: resourceVersions by name.
func contents(t testing.TB, b backend, k kind) map[string]string {
	t.Helper()
	out := map[string]string{}
	var err error
	listed := func() bool {
		var list *unstructured.UnstructuredList
		list, err = b.admin().Resource(k.gvr()).Namespace(b.namespace()).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false
		}
		for _, o := range list.Items {
			out[o.GetName()] = o.GetResourceVersion()
		}
		return true
	}
	if !poll.Until(t.Context(), patience, listed) {
		t.Fatalf("listing %s: %v", k.resource(), err)
	}
	return out
}

// dynamicClient returns a client whose connections end with the test.
func dynamicClient(t testing.TB, cfg *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfigAndClient(cfg, httpClientFor(t, cfg))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// httpClientFor returns a client whose connections end with the test.
func httpClientFor(t testing.TB, cfg *rest.Config) *http.Client {
	t.Helper()
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(httpClient.CloseIdleConnections)
	return httpClient
}

// word makes a name that Kubernetes accepts of a test's.
func word(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name)), "-")
}
