// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

func gadgetReader(s *gadgetServer, known map[types.UID]int64) *generationReader {
	return &generationReader{client: s, clock: clock.RealClock{}, target: generationTarget{gvk: gadgetKind}, known: known}
}

// Only a page with a generation that is not known to be observed is read in full.
func TestGenerationReadByPages(t *testing.T) {
	s := &gadgetServer{}
	s.set(
		gadget{name: "a", generation: 1, observed: 1}, gadget{name: "b", generation: 2, observed: 2},
		gadget{name: "c", generation: 3, observed: 2}, gadget{name: "d", generation: 4, observed: 4},
		gadget{name: "e"}, gadget{name: "f", generation: 9, deleting: true},
		gadget{name: "g", generation: 1, observed: 1},
	)
	r := gadgetReader(s, map[types.UID]int64{"a": 1, "b": 2, "c": 2, "d": 4, "g": 2, "gone": 5})
	got, err := r.readBy(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	wantCalls := []listCall{
		{limit: 2},
		{limit: 2, token: "2"}, {limit: 2, token: "2", full: true}, // c has moved
		{limit: 2, token: "4"},                                     // e has no generation, and f is being deleted
		{limit: 2, token: "6"}, {limit: 2, token: "6", full: true}, // g has gone back
	}
	if diff := cmp.Diff(wantCalls, s.take(), cmp.AllowUnexported(listCall{})); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	want := generationReading{
		known: map[types.UID]int64{"a": 1, "b": 2, "c": 2, "d": 4, "e": 0, "g": 2},
		looked: map[types.UID]generationSighting{
			"c": {namespace: "a", name: "c", generation: 3, observed: 2, took: -1},
			"g": {namespace: "a", name: "g", generation: 1, observed: 1, took: -1},
		},
		missed: map[types.UID]bool{}, bare: 1,
	}
	want.began, want.ended = got.began, got.ended
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(generationReading{}, generationSighting{})); diff != "" {
		t.Errorf("reading (-want +got):\n%s", diff)
	}
}

// What is asked for: that namespace, those labels, and no resourceVersion, which a watch
// cache could answer that is as old as what the controller sees.
func TestGenerationReadAsks(t *testing.T) {
	selector, err := labels.Parse("!paused")
	if err != nil {
		t.Fatal(err)
	}
	got := generationTarget{namespace: "a", selector: selector}.options(2, "next")
	if diff := cmp.Diff(&metav1.ListOptions{LabelSelector: "!paused", Limit: 2, Continue: "next"}, got.AsListOptions()); diff != "" || got.Namespace != "a" {
		t.Errorf("in namespace %q (-want +got):\n%s", got.Namespace, diff)
	}
}

// The second read of a page finds other objects than the first.
func TestGenerationReadOtherObjects(t *testing.T) {
	s := &gadgetServer{}
	s.set(gadget{name: "a", generation: 2, observed: 1}, gadget{name: "b", generation: 2, observed: 1}, gadget{name: "c", generation: 2, observed: 1})
	s.script(func(_ context.Context, c listCall) error {
		if c.full { // b is another one by now, c is being deleted, d has come
			s.set(gadget{name: "a", generation: 3, observed: 3}, gadget{name: "b", uid: "2", generation: 1}, gadget{name: "c", generation: 3, deleting: true}, gadget{name: "d", generation: 1})
		}
		return nil
	})
	got, err := gadgetReader(s, nil).readBy(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if got.looked["a"].generation != 3 || !slices.Equal(sorted(got.looked), []types.UID{"a"}) {
		t.Errorf("looked at %+v, want a at generation 3 alone", got.looked)
	}
	if !slices.Equal(sorted(got.missed), []types.UID{"b"}) || !slices.Equal(sorted(got.known), []types.UID{"a", "b"}) {
		t.Errorf("missed %v of %v, want b of a and b", sorted(got.missed), sorted(got.known))
	}
}

// Where the rest of a list cannot be had, the kind is read in one piece; where that
// fails as well, or anything else does, there is nothing.
func TestGenerationReadInOnePiece(t *testing.T) {
	gadgets := schema.GroupResource{Group: "example.com", Resource: "gadgets"}
	frozen := apierrors.NewTimeoutError("Too large resource version: 9, current: 5", 1)
	frozen.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	expired := apierrors.NewResourceExpired("the continue token is too old")
	forbidden := apierrors.NewForbidden(gadgets, "", errors.New("no"))
	for _, tc := range []struct {
		name   string
		err    error // of every page but the first
		always bool  // and of the whole
		want   error
		calls  int
	}{
		{"the list has expired, and no token is offered", expired, false, expired, 3},
		{"a frozen watch cache", frozen, false, nil, 5},
		{"not even as a whole", frozen, true, frozen, 4},
		{"any other error", forbidden, false, forbidden, 3},
		{"no more time", apierrors.NewTimeoutError("slow", 1), false, apierrors.NewTimeoutError("slow", 1), 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &gadgetServer{}
			s.set(gadgetsAt(generationPage+1, 1)...)
			s.script(func(_ context.Context, c listCall) error {
				if c.token != "" || tc.always && c.limit == 0 {
					return tc.err
				}
				return nil
			})
			got, err := gadgetReader(s, nil).read(t.Context())
			if text(err) != text(tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
			want := 0
			if tc.want == nil {
				want = generationPage + 1
			}
			if len(got.looked) != want {
				t.Errorf("%d objects, want %d", len(got.looked), want)
			}
			if calls := s.take(); len(calls) != tc.calls {
				t.Errorf("%d requests, want %d: %+v", len(calls), tc.calls, calls)
			}
		})
	}
}

// A list that has expired in the middle is gone on with by the token that its error
// carries, without holding more than a page.
func TestGenerationReadGoesOn(t *testing.T) {
	expired := apierrors.NewResourceExpired("the continue token is too old")
	expired.ErrStatus.Continue = "0250" // the same place, of another resourceVersion
	s := &gadgetServer{}
	s.set(gadgetsAt(2*generationPage+1, 1)...)
	s.script(func(_ context.Context, c listCall) error {
		if c.token == "250" && c.full {
			return expired
		}
		return nil
	})
	got, err := gadgetReader(s, nil).read(t.Context())
	if err != nil || len(got.looked) != 2*generationPage+1 {
		t.Errorf("%d objects, error %v", len(got.looked), err)
	}
	for _, c := range s.take() {
		if c.limit != generationPage {
			t.Errorf("a list of limit %d, want pages only", c.limit)
		}
	}
}

// A server that always has another page, the same one, does not keep a read for ever.
func TestGenerationReadThatDoesNotEnd(t *testing.T) {
	expired := apierrors.NewResourceExpired("the continue token is too old")
	expired.ErrStatus.Continue = "250"
	s := &gadgetServer{}
	s.set(gadgetsAt(generationPage+1, 1)...)
	s.script(func(_ context.Context, c listCall) error {
		if c.token == "250" {
			return expired
		}
		return nil
	})
	if _, err := gadgetReader(s, nil).read(t.Context()); err == nil || !strings.Contains(err.Error(), "does not end") {
		t.Errorf("error %v", err)
	}
}

// Too many objects are not held at once, whatever the reason.
func TestGenerationReadInOnePieceIsBounded(t *testing.T) {
	frozen := apierrors.NewTimeoutError("Too large resource version: 9, current: 5", 1)
	frozen.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	s := &gadgetServer{}
	s.set(gadgetsAt(generationWhole+1, 1)...)
	s.script(func(_ context.Context, c listCall) error {
		if c.token != "" {
			return frozen
		}
		return nil
	})
	if _, err := gadgetReader(s, nil).read(t.Context()); err == nil || !strings.Contains(err.Error(), "5001 objects are too many to be read in one piece (at most 5000)") {
		t.Errorf("error %v", err)
	}
	for _, c := range s.take() {
		if c.full && c.limit == 0 {
			t.Error("the whole kind was read in full")
		}
	}
}

// What the controller leaves alone is as good as not there, for as long as it does.
func TestGenerationReadIgnores(t *testing.T) {
	s := &gadgetServer{}
	s.set(gadget{name: "a", generation: 2, observed: 1}, gadget{name: "b", generation: 2, observed: 1})
	r := gadgetReader(s, nil)
	r.target.ignore = func(u *unstructured.Unstructured) bool { return u.GetName() == "a" }
	got, err := r.read(t.Context())
	if err != nil || len(got.looked) != 1 || len(got.known) != 1 || len(got.missed) != 0 {
		t.Errorf("reading %+v, error %v; want b alone", got, err)
	}
}

// A request that hangs is given up, and says so; one that is told to end says that.
func TestGenerationReadHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &gadgetServer{}
		s.script(func(ctx context.Context, _ listCall) error { <-ctx.Done(); return ctx.Err() })
		began := time.Now()
		_, err := gadgetReader(s, nil).read(t.Context())
		if took := time.Since(began); took != generationTimeout || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer within 1m0s") {
			t.Errorf("%v after %v, want a deadline after %v", err, took, generationTimeout)
		}
	})
}

// What is known of an object that does not trail is as small as the documentation says.
func TestGenerationMemory(t *testing.T) {
	const n = 50_000
	s := &gadgetServer{}
	for i := range n {
		s.gadgets = append(s.gadgets, gadget{name: fmt.Sprintf("8f14e45f-ceea-4671-a5e5-%012x", i), generation: 1, observed: 1}) // as long as a uid
	}
	reading, err := gadgetReader(s, nil).readBy(t.Context(), generationPage)
	if err != nil {
		t.Fatal(err)
	}
	s.gadgets, s.calls = nil, nil
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	with := func() uint64 {
		b, _ := generationBooks{}.after(reading, time.Hour)
		reading = generationReading{}
		defer runtime.KeepAlive(b)
		return heap()
	}()
	each := float64(with-heap()) / n
	t.Logf("%.0f bytes for each object", each)
	if each > 130 {
		t.Errorf("%.0f bytes for each object, want some 100", each)
	}
}
