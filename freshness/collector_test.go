// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/freshwatch/freshwatch/internal/exposition"
)

// monitorWith is a monitor over informers in given states.
func monitorWith(t *testing.T, states ...func(*tracked)) *Monitor {
	t.Helper()
	m, err := New(Options{Clock: clocktesting.NewFakeClock(epoch)})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range states {
		m.NewInformer(&cache.ListWatch{}, &corev1.ConfigMap{}, 0, cache.Indexers{})
		change(m.informers[len(m.informers)-1])
	}
	return m
}

func proven(ago time.Duration) func(*tracked) {
	return func(t *tracked) {
		t.state.synced, t.state.freshAsOf = true, epoch.Add(-ago)
		t.state.counters = counters{reads: 7, proofs: 6, doubts: 1, cures: [4]uint64{2, 1, 0, 0}, provenCures: [4]uint64{1, 1, 0, 0}}
	}
}

func stalled(since time.Duration) func(*tracked) {
	return func(t *tracked) {
		proven(since + time.Minute)(t)
		t.state.stored, t.state.swept = "100", epoch
		t.state.doubt = &doubt{
			since: epoch.Add(-since), blamed: epoch.Add(-since), proof: proof{rv: "120"},
			conclusive: true, server: ServerReached, ladder: ladder{tried: 3},
		}
	}
}

func named(i Informer, change func(*tracked)) func(*tracked) {
	return func(t *tracked) { t.guess = i; change(t) }
}

func TestCollectorGolden(t *testing.T) {
	m := monitorWith(t,
		named(Informer{Version: "v1", Resource: "configmaps", Namespace: "a"}, proven(30*time.Second)),
		named(Informer{Group: "example.com", Version: "v1", Resource: "widgets"}, stalled(time.Minute)),
		named(Informer{Version: "v1", Resource: "secrets"}, func(*tracked) {}),
		// A second informer of the same name: one series, the worse of both.
		named(Informer{Version: "v1", Resource: "configmaps", Namespace: "a"}, proven(50*time.Second)),
	)

	exposition.Golden(t, "metrics.golden", m)
}

// Of several informers of a kind, one is asked for.
func TestStatusOfInformer(t *testing.T) {
	m := monitorWith(t, proven(time.Second), stalled(time.Minute))
	for i, want := range []Verdict{Fresh, Stalled} {
		st, found := m.StatusOfInformer(m.informers[i].informer.(cache.SharedIndexInformer))
		if !found || st.Verdict != want {
			t.Errorf("%v, %v, want %v", st.Verdict, found, want)
		}
	}
	if st, found := m.StatusOfInformer(cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.ConfigMap{}, 0, nil)); found {
		t.Errorf("%v of an informer that is not monitored", st)
	}
}

func TestLeaveOutOfCheck(t *testing.T) {
	m := monitorWith(t, stalled(time.Hour))
	if m.Check(nil) == nil {
		t.Fatal("Check passes")
	}
	if err := m.LeaveOutOfCheck(m.informers[0].informer.(cache.SharedIndexInformer)); err != nil {
		t.Fatal(err)
	}
	if err := m.Check(nil); err != nil || m.Status()[0].Verdict != Stalled {
		t.Errorf("Check() = %v, verdict %v", err, m.Status()[0].Verdict)
	}
	if err := m.LeaveOutOfCheck(cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.ConfigMap{}, 0, nil)); !errors.Is(err, ErrNotMonitored) {
		t.Errorf("another's informer: %v", err)
	}
}

// The probe's text is read by whoever reaches the port: name, verdict, bound
// and limit, sorted, and nothing else.
func TestCheckText(t *testing.T) {
	m := monitorWith(t,
		named(Informer{Group: "example.com", Version: "v1", Resource: "widgets"}, stalled(5*time.Minute)),
		named(Informer{Version: "v1", Resource: "configmaps", Namespace: "a"}, stalled(6*time.Minute)),
		named(Informer{Version: "v1", Resource: "secrets"}, stalled(5*time.Minute-1)),
		named(Informer{Version: "v1", Resource: "pods"}, proven(time.Hour)),
	)
	const want = "freshness: stalled: configmaps/v1 in a: Stalled for 6m0s (limit 5m0s), fresh as of 7m0s ago; " +
		"widgets.example.com/v1: Stalled for 5m0s (limit 5m0s), fresh as of 6m0s ago"
	if got := m.Check(nil); got == nil || got.Error() != want {
		t.Errorf("Check() = %v\nwant %v", got, want)
	}
}

func TestConcurrentUse(t *testing.T) {
	m := monitorWith(t, proven(0), stalled(time.Hour))
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			_ = m.Check(nil)
			_ = m.Status()
			testutil.CollectAndCount(m)
		})
	}
	wg.Go(func() { m.NewInformer(&cache.ListWatch{}, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{}) })
	wg.Wait()
}

func TestTrack(t *testing.T) {
	m := monitorWith(t)
	lw := m.WrapListerWatcher(&cache.ListWatch{})
	inf := cache.NewSharedIndexInformer(lw, &corev1.ConfigMap{}, 0, cache.Indexers{})
	if err := m.Track(inf, &cache.ListWatch{}, Informer{}); err == nil || !strings.Contains(err.Error(), "WrapListerWatcher") {
		t.Errorf("Track of a foreign ListerWatcher = %v, want an error that names WrapListerWatcher", err)
	}
	if err := m.Track(nil, lw, Informer{}); err == nil {
		t.Error("Track(nil) = nil, want an error")
	}
	if err := m.Track(inf, lw, Informer{Resource: "configmaps"}); err != nil {
		t.Errorf("Track = %v", err)
	}
	if err := m.Track(inf, lw, Informer{}); err == nil {
		t.Error("Track of the same informer again = nil, want an error")
	}
	if got := m.Status(); len(got) != 1 || got[0].Informer.Resource != "configmaps" || got[0].Verdict != Syncing || !strings.Contains(got[0].Reason, "monitor is not started") {
		t.Errorf("Status() = %+v, want one informer of configmaps, and to be told that the monitor is not started", got)
	}
}

func TestGuessInformer(t *testing.T) {
	partial := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}}
	for _, tt := range []struct {
		got, want Informer
	}{
		{guessInformer(&corev1.ConfigMap{}), Informer{Resource: "configmaps"}},
		{guessInformer(partial), Informer{Group: "apps", Version: "v1", Resource: "deployments"}},
		{guessInformer(nil), Informer{Resource: "unknown"}},
		{guessInformer((*corev1.ConfigMap)(nil)), Informer{Resource: "unknown"}},
	} {
		if tt.got != tt.want {
			t.Errorf("guessed %+v, want %+v", tt.got, tt.want)
		}
	}
}
