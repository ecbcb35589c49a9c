// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
	"k8s.io/utils/clock"
)

// fakeClient is a client that does what the test says.
type fakeClient struct {
	list  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error)
	watch func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

func (f fakeClient) wrap() *listerWatcher {
	return newListerWatcher(&cache.ListWatch{ListWithContextFunc: f.list, WatchFuncWithContext: f.watch}, clock.RealClock{}, &limiter{})
}

func TestCuresChangeTheNextRequest(t *testing.T) {
	initial := metav1.ListOptions{SendInitialEvents: new(true), TimeoutSeconds: new(int64(400))}
	plain := metav1.ListOptions{ResourceVersion: "7", TimeoutSeconds: new(int64(400))}
	tests := []struct {
		name    string
		rung    Rung
		opts    metav1.ListOptions
		timeout int64 // of the watch that is sent; 0: none is
		check   func(error) bool
	}{
		{"resume: a short watch", Resume, plain, 5, nil},
		{"resume: initial events keep their time", Resume, initial, 400, nil},
		{"relist: the watch has expired", Relist, plain, 0, apierrors.IsResourceExpired},
		{"relist: what starts anew is a relist already", Relist, initial, 400, nil},
		{"list: the watch has expired", List, plain, 0, apierrors.IsResourceExpired},
		{"list: no initial events", List, initial, 0, apierrors.IsBadRequest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var sent []metav1.ListOptions
			l := fakeClient{watch: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
				sent = append(sent, o)
				return watch.NewRaceFreeFake(), nil
			}}.wrap()
			l.cure(tt.rung)
			w, err := l.Watch(tt.opts)
			if tt.timeout == 0 {
				if len(sent) > 0 || !tt.check(err) {
					t.Errorf("sent %v, error %v", sent, err)
				}
			} else if err != nil || len(sent) != 1 || *sent[0].TimeoutSeconds != tt.timeout {
				t.Errorf("sent %v, error %v, want timeoutSeconds %d", sent, err, tt.timeout)
			}
			if w != nil {
				w.Stop()
			}
			if w, err = l.Watch(plain); err != nil || *sent[len(sent)-1].TimeoutSeconds != 400 {
				t.Errorf("the watch after the cure: error %v, sent %v; want it untouched", err, sent)
			}
			w.Stop()
		})
	}
}

// A watch that is cut while its headers are waited for must end without an
// error, which would make the reflector relist.
func TestCutBeforeHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fakeClient{watch: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}.wrap()
		go func() { time.Sleep(time.Minute); l.cure(Resume) }()
		w, err := l.Watch(metav1.ListOptions{})
		if err != nil {
			t.Fatalf("Watch = %v, want an empty watch", err)
		}
		if _, open := <-w.ResultChan(); open {
			t.Error("the watch is open")
		}
		if s, _, _ := l.look(); s.open {
			t.Error("the books say that a stream is open")
		}
	})
}

func TestEndOfTheCallersContextIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fakeClient{watch: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}.wrap()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := l.WatchWithContext(ctx, metav1.ListOptions{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("WatchWithContext = %v, want the context's error", err)
		}
	})
}

// Fake clientsets and old ListFuncs do not look at the context: the second cut
// stops the watch itself.
func TestClientThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := watch.NewRaceFreeFake()
		l := fakeClient{watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return fake, nil }}.wrap()
		w, err := l.Watch(metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		l.cure(Resume)
		synctest.Wait()
		if fake.IsStopped() {
			t.Fatal("stopped at the first cut: the clients that do look would race with their error event")
		}
		l.cure(Relist)
		if !fake.IsStopped() {
			t.Error("not stopped at the second cut")
		}
		w.Stop()
	})
}

func TestReadsSelectNothing(t *testing.T) {
	var sent []metav1.ListOptions
	l := fakeClient{list: func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
		sent = append(sent, o)
		if o.FieldSelector == nothing {
			return nil, apierrors.NewBadRequest("field label not supported: metadata.namespace")
		}
		return &corev1.NodeList{ListMeta: metav1.ListMeta{ResourceVersion: "42"}}, nil
	}}.wrap()
	for range 2 {
		if rv, _, err := l.readVersion(t.Context()); rv != "42" || err != nil {
			t.Errorf("readVersion = %q, %v, want 42", rv, err)
		}
	}
	if rv, _, err := l.probe(t.Context()); rv != "42" || err != nil {
		t.Errorf("probe = %q, %v, want 42", rv, err)
	}
	want := []metav1.ListOptions{
		{Limit: 1, FieldSelector: nothing},
		{Limit: 1, FieldSelector: nothingClusterScoped}, // refused once, remembered
		{Limit: 1, FieldSelector: nothingClusterScoped},
		{Limit: 1, FieldSelector: nothingClusterScoped, ResourceVersion: "0"},
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if errs := validation.IsDNS1123Label(noName); len(errs) > 0 {
		t.Errorf("%q could not be a namespace: %v; the server would walk over the kind", noName, errs)
	}
}

func TestBadRequestForGood(t *testing.T) {
	l := fakeClient{list: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
		return nil, apierrors.NewBadRequest("no")
	}}.wrap()
	if _, _, err := l.readVersion(t.Context()); !apierrors.IsBadRequest(err) {
		t.Errorf("readVersion = %v, want the server's error", err)
	}
}

func TestWatchListSemanticsArePassedOn(t *testing.T) {
	for _, unsupported := range []bool{true, false} {
		inner := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{}, semantics(unsupported))
		if got := watchlist.DoesClientNotSupportWatchListSemantics(newListerWatcher(inner, clock.RealClock{}, &limiter{})); got != unsupported {
			t.Errorf("DoesClientNotSupportWatchListSemantics = %v, want the client's %v", got, unsupported)
		}
	}
}

type semantics bool

func (s semantics) IsWatchListSemanticsUnSupported() bool { return bool(s) }

func TestEventsPassUntouched(t *testing.T) {
	fake := watch.NewFake()
	l := fakeClient{watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return fake, nil }}.wrap()
	w, err := l.Watch(metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if w.ResultChan() != fake.ResultChan() {
		t.Error("something stands between the stream and the reflector")
	}
}
