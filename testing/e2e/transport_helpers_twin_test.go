// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// twin is an informer, and what it has seen.
type twin struct {
	cache.SharedIndexInformer
	server *server
	agent  string
	config *rest.Config
	client dynamic.Interface // of the informer

	mu   sync.Mutex
	saw  map[string]time.Time // when the edited object had which color
	errs []error              // what the WatchErrorHandler was told
}

func (s *server) newTwin(agent string) *twin {
	cfg := s.api.Config(s.user)
	cfg.Host = "https://" + s.tcp.Addr()
	cfg.UserAgent = agent
	return &twin{server: s, agent: agent, config: cfg, saw: map[string]time.Time{}}
}

func (w *twin) start(t *testing.T, as reader) {
	t.Helper()
	w.client = dynamicClient(t, w.config)
	lw := dynamicLW(w.client, w.server.kind, w.server.ns)
	if as != nil {
		lw = as(lw)
	}
	w.SharedIndexInformer = cache.NewSharedIndexInformer(lw, &unstructured.Unstructured{}, 0, cache.Indexers{})
	if err := w.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { w.failed(err) }); err != nil {
		t.Fatal(err)
	}
	if _, err := w.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: w.see, UpdateFunc: func(_, obj any) { w.see(obj) }}); err != nil {
		t.Fatal(err)
	}
	untilEnd(t, w.RunWithContext)
}

// another runs an informer of another kind by the same client.
func (w *twin) another(t *testing.T, k kind) cache.SharedIndexInformer {
	t.Helper()
	inf := cache.NewSharedIndexInformer(dynamicLW(w.client, k, w.server.ns), &unstructured.Unstructured{}, 0, cache.Indexers{})
	untilEnd(t, inf.RunWithContext)
	if !poll.Until(t.Context(), patience, inf.HasSynced) {
		t.Fatalf("the informer of %s did not sync", k.resource())
	}
	return inf
}

func (w *twin) see(obj any) {
	if u, ok := obj.(*unstructured.Unstructured); ok && u.GetName() == edited {
		w.mu.Lock()
		defer w.mu.Unlock()
		if _, seen := w.saw[colorOf(u)]; !seen {
			w.saw[colorOf(u)] = time.Now()
		}
	}
}

func (w *twin) failed(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.errs = append(w.errs, err)
}

func (w *twin) errors() []error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.errs)
}

// sees tells whether the informer has seen the edited object in a color.
func (w *twin) sees(color string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, seen := w.saw[color]
	return seen
}

// await waits for a color and returns how long after a moment it was seen. The
// test ends where it is not.
func (w *twin) await(t *testing.T, color string, since time.Time, limit time.Duration) time.Duration {
	t.Helper()
	if !poll.Until(t.Context(), limit, func() bool { return w.sees(color) }) {
		t.Fatalf("%s does not see the edit after %v; its requests:\n%v", w.agent, time.Since(since), w.requests(""))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.saw[color].Sub(since)
}

// checkBlind fails if the informer has seen a color: then there was no fault.
func (w *twin) checkBlind(t *testing.T, color string) {
	t.Helper()
	if w.sees(color) {
		t.Errorf("%s has seen the edit: there was no fault", w.agent)
	}
}

// match selects the informer's requests.
func (w *twin) match(verb string) faultproxy.Match {
	m := w.server.match(verb)
	m.UserAgent = w.agent
	return m
}

// requests returns the informer's requests, oldest first.
func (w *twin) requests(verb string) requestList { return w.server.api.Requests(w.match(verb)) }

func (w *twin) refilled(since time.Time) int64 {
	return refilled(w.server.api, w.match(""), since)
}

// requestList prints what matters here.
type requestList []faultproxy.Request

func (l requestList) String() string {
	var out string
	for _, r := range l {
		out += fmt.Sprintf("%s %s %s timeout=%ds rv=%s initial=%t: %d in %v, %d bytes, %d objects, %d events, %d bookmarks, open=%t %v\n",
			r.Start.Format("15:04:05.000"), r.Verb, r.Resource, r.TimeoutSeconds, r.ResourceVersion, r.SendInitialEvents,
			r.Status, r.Duration.Round(time.Millisecond), r.BytesDown, r.Objects+r.InitialObjects, r.Events, r.Bookmarks, r.Open, r.Faults)
	}
	return out
}
