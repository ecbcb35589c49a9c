// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package generations

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

const (
	// interval is the shortest there is, and limit what a healthy controller needs on a
	// machine that is busy with everything else.
	interval = reconcile.MinGenerationInterval
	limit    = 5 * time.Second
	// told is how long a lag takes to be told, and slack what a busy machine may add.
	told  = limit + 2*interval
	slack = 15 * time.Second
)

// watcher is a reconcile.Generations that runs.
type watcher struct {
	*reconcile.Generations
	begin time.Time

	mu    sync.Mutex
	lines []string
}

// watch runs one with the rights of cfg until the test ends.
func watch(t *testing.T, cfg *rest.Config, kinds ...reconcile.GenerationKind) *watcher {
	t.Helper()
	cl, err := cluster.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{begin: time.Now()}
	logger := funcr.New(func(_, args string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.lines = append(w.lines, args)
	}, funcr.Options{})
	if w.Generations, err = reconcile.NewGenerations(cl, kinds, reconcile.GenerationOptions{Interval: interval, Limit: limit, Logger: logger}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Start: %v", err)
		}
		cl.GetHTTPClient().CloseIdleConnections()
	})
	return w
}

// logged returns the lines that contain text.
func (w *watcher) logged(text string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, l := range w.lines {
		if strings.Contains(l, text) {
			out = append(out, l)
		}
	}
	return out
}

// of returns the status of a kind.
func (w *watcher) of(resource string) reconcile.GenerationStatus {
	for _, st := range w.Status() {
		if st.Resource == resource {
			return st
		}
	}
	return reconcile.GenerationStatus{}
}

// read tells that a kind has been read without an error since a moment.
func (w *watcher) read(resource string, since time.Time) func() bool {
	return func() bool {
		st := w.of(resource)
		return st.Err == nil && st.LastRead.After(since)
	}
}

// lags tells that an object is among those that lag.
func (w *watcher) lags(resource, name string) func() bool {
	return func() bool {
		for _, l := range w.of(resource).Worst {
			if l.Name == name {
				return true
			}
		}
		return false
	}
}

// caughtUp tells that nothing trails.
func (w *watcher) caughtUp(resources ...string) func() bool {
	return func() bool {
		for _, r := range resources {
			if st := w.of(r); st.Trailing > 0 || st.Err != nil || st.LastRead.IsZero() {
				return false
			}
		}
		return true
	}
}

// await waits until cond holds, and returns how long that took.
func (w *watcher) await(t *testing.T, limit time.Duration, what string, cond func() bool) time.Duration {
	t.Helper()
	begin := time.Now()
	if !poll.Until(t.Context(), limit, cond) {
		w.mu.Lock()
		defer w.mu.Unlock()
		t.Fatalf("not within %v: %s\n%+v\n%s", limit, what, w.Status(), strings.Join(w.lines, "\n"))
	}
	return time.Since(begin)
}

// metric returns the first series of a metric of which a label has that value: a counter,
// or the sum of a histogram and how many samples that has.
func (w *watcher) metric(t *testing.T, name, label string) (value float64, samples uint64) {
	t.Helper()
	registry := prometheus.NewRegistry()
	if err := registry.Register(w); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == name && l.GetValue() == label {
					return m.GetCounter().GetValue() + m.GetHistogram().GetSampleSum(), m.GetHistogram().GetSampleCount()
				}
			}
		}
	}
	t.Fatalf("there is no %s of %s", name, label)
	return 0, 0
}

// figures logs what was measured.
func figures(t *testing.T, of map[string]any) {
	t.Helper()
	for k, v := range of {
		if d, ok := v.(time.Duration); ok {
			of[k] = float64(d.Round(10*time.Millisecond)) / float64(time.Second)
		}
	}
	of["scenario"] = t.Name()
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", text)
}
