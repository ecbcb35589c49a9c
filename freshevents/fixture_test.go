// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/watchcanary"
)

var events = corev1.SchemeGroupVersion.WithResource("events")

// fixture is an API server in this process, and a program in a Pod that writes Events. It
// lives in a synctest bubble: its time is the bubble's.
type fixture struct {
	*testing.T
	*Events
	srv  *freshtest.Server
	stop func() time.Duration // ends Start, and returns how long that took

	mu  sync.Mutex
	log []string
}

// scenario plays in a bubble, with Events that run.
func scenario(t *testing.T, o Options, play func(f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{T: t, srv: freshtest.Start(t, freshtest.Options{Token: tokenOf(claimsOfPod)})}
		f.make(o)
		f.start()
		play(f)
	})
}

// make makes Events with a client of their own.
func (f *fixture) make(o Options) {
	f.Helper()
	cfg := f.srv.Config()
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(client.CloseIdleConnections)
	o.Logger = funcr.New(func(_, args string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.log = append(f.log, args)
	}, funcr.Options{})
	if f.Events, err = New(watchcanary.Client{Config: cfg, HTTP: client}, o); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) start() {
	ctx, cancel := context.WithCancel(f.Context())
	done := make(chan error, 1)
	go func() { done <- f.Start(ctx) }()
	f.stop = sync.OnceValue(func() time.Duration {
		begin := time.Now()
		cancel()
		if err := <-done; err != nil {
			f.Error(err)
		}
		return time.Since(begin)
	})
	f.Cleanup(func() { f.stop() })
}

// told returns what was logged.
func (f *fixture) told() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

// written returns the Events that the API server has, the oldest first, and those of one
// second as they were written.
func (f *fixture) written() []corev1.Event {
	f.Helper()
	c, err := kubernetes.NewForConfig(f.srv.Config())
	if err != nil {
		f.Fatal(err)
	}
	list, err := c.CoreV1().Events(metav1.NamespaceAll).List(f.Context(), metav1.ListOptions{})
	if err != nil {
		f.Fatal(err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Event) int {
		return cmp.Or(a.LastTimestamp.Compare(b.LastTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	return list.Items
}

// wantWritten compares the Events with what they should be, as type, reason and message.
func (f *fixture) wantWritten(want ...string) []corev1.Event {
	f.Helper()
	got := f.written()
	var lines []string
	for _, e := range got {
		lines = append(lines, e.Type+" "+e.Reason+": "+e.Message)
	}
	if diff := gocmp.Diff(want, lines); diff != "" {
		f.Errorf("Events (-want +got):\n%s", diff)
	}
	return got
}

// wantCounts compares the metric with what is not nought in it.
func (f *fixture) wantCounts(want map[string]uint64) {
	f.Helper()
	got := map[string]uint64{}
	f.Events.mu.Lock()
	for r, n := range f.counts {
		if n > 0 {
			got[resultNames[r]] = n
		}
	}
	f.Events.mu.Unlock()
	if diff := gocmp.Diff(want, got); diff != "" {
		f.Errorf("counts (-want +got):\n%s", diff)
	}
}

// attempts counts the writes that were tried.
func (f *fixture) attempts() int {
	return f.srv.Requests(events, "create") + f.srv.Requests(events, "patch")
}

// stalled is the beginning of an incident, and healed its end.
func stalled(of freshness.Informer) flightrecorder.Incident {
	return flightrecorder.Incident{
		Informer: of, Began: time.Now(), Verdict: freshness.Stalled, Diagnosis: "The watch of " + of.String() + " fell silent.",
		Evidence: flightrecorder.Evidence{Informers: flightrecorder.Share{Some: 1, Of: 1000}},
	}
}

func healed(of freshness.Informer) flightrecorder.Incident {
	i := stalled(of)
	i.Ended, i.Diagnosis = time.Now(), "The watch of "+of.String()+" fell silent; resume healed it."
	return i
}
