// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/freshwatch/freshwatch/internal/exposition"
)

var (
	_ manager.LeaderElectionRunnable = (*Generations)(nil)
	_ manager.Runnable               = (*Generations)(nil)
)

// startGenerations runs g until the test ends, or the returned function is called.
func startGenerations(t *testing.T, g *Generations) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- g.Start(ctx) }()
	synctest.Wait()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Start: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// A lag is told once when it begins, when more objects join it, and when all have
// caught up.
func TestGenerationsTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := &gadgetServer{}, &journal{}
		g := newGenerations(t, s, GenerationOptions{Logger: j.logger()})
		s.set(gadget{name: "a", generation: 2, observed: 1}, gadget{name: "b", generation: 1, observed: 1})
		stop := startGenerations(t, g)

		time.Sleep(DefaultGenerationLimit)
		j.wantLines(t)
		if st := g.Status()[0]; st.Objects != 2 || st.Trailing != 1 || st.Lagging != 0 {
			t.Errorf("%+v, want one of two objects to trail", st)
		}
		time.Sleep(DefaultGenerationInterval + generationTick)
		lines := j.take()
		if len(lines) != 1 || !strings.Contains(lines[0], `"kind"="gadgets.example.com" "lagging"=1 "worst"="a/a at generation 2, observed 1, for 1`) {
			t.Errorf("lines %q, want one that names a", lines)
		}
		st := g.Status()[0]
		if len(st.Worst) != 1 || st.Worst[0].Name != "a" || st.Worst[0].Age <= DefaultGenerationLimit || time.Since(st.LastRead) > DefaultGenerationInterval {
			t.Errorf("%+v, want a to lag", st)
		}

		time.Sleep(time.Hour)
		j.wantLines(t) // nothing new
		s.set(gadget{name: "a", generation: 2, observed: 1}, gadget{name: "b", generation: 2, observed: 1})
		time.Sleep(DefaultGenerationLimit + 2*DefaultGenerationInterval)
		j.wantLines(t, `"lagging"=2 "worst"="a/a at`)
		s.set(gadget{name: "a", generation: 2, observed: 2}, gadget{name: "b", generation: 2, observed: 1})
		time.Sleep(DefaultGenerationInterval)
		j.wantLines(t) // not all have
		s.set(gadget{name: "a", generation: 2, observed: 2}, gadget{name: "b", generation: 2, observed: 2})
		time.Sleep(DefaultGenerationInterval + generationTick)
		j.wantLines(t, `No object lags any more" "kind"="gadgets.example.com" "after"="1h`)

		stop()
		if got := g.Status(); got != nil {
			t.Errorf("%+v is left after the end", got)
		}
		if n := testutil.CollectAndCount(g); n != 0 {
			t.Errorf("%d series are left after the end", n)
		}
	})
}

// Of many, the ten that have trailed longest are named.
func TestGenerationsNameTheWorst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := &gadgetServer{}, &journal{}
		g := newGenerations(t, s, GenerationOptions{Interval: time.Minute, Limit: time.Minute, Logger: j.logger()})
		behind := func(n int) (out []gadget) {
			for _, o := range gadgetsAt(n, 3) {
				o.observed = 1
				out = append(out, o)
			}
			return out
		}
		s.set(behind(8)...)
		startGenerations(t, g)
		time.Sleep(30 * time.Second)
		s.set(behind(15)...)
		time.Sleep(5 * time.Minute)
		lines := j.take()
		last := lines[len(lines)-1]
		if !strings.Contains(last, `"lagging"=15`) || !strings.Contains(last, "a/g00009 at") || strings.Contains(last, "a/g00010 at") || !strings.Contains(last, "and 5 more") {
			t.Errorf("%q, want the first ten of 15", last)
		}
		st := g.Status()[0]
		if len(st.Worst) != WorstGenerations || st.Lagging != 15 || st.Worst[7].Age <= st.Worst[8].Age {
			t.Errorf("%+v, want ten of 15, the oldest first", st)
		}
	})
}

// A kind that cannot be read says so once, is read ever more rarely, and leaves what is
// known and the other kinds alone.
func TestGenerationsThatCannotBeRead(t *testing.T) {
	resource := schema.GroupResource{Group: "example.com", Resource: "gadgets"}
	for _, tc := range []struct {
		name   string
		err    error // nil: the kind is not known to the mapper
		result generationResult
		want   string
	}{
		{"forbidden", apierrors.NewForbidden(resource, "", errors.New("no rights")), generationForbidden, `ClusterRole the rule {apiGroups: [\"example.com\"], resources: [gadgets], verbs: [list]}`},
		{"a dead token", apierrors.NewUnauthorized("expired"), generationUnauthorized, "delete the Pod"},
		{"not served", nil, generationUnserved, "install its CustomResourceDefinition"},
		{"not served any more", apierrors.NewNotFound(resource, ""), generationUnserved, "install its CustomResourceDefinition"},
		{"throttled", apierrors.NewTooManyRequests("later", 1), generationThrottled, "overloaded"},
		{"unreachable", errors.New("connection refused"), generationFailed, "connection refused"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, j := &gadgetServer{}, &journal{}
				g := newGenerations(t, s, GenerationOptions{Interval: time.Minute, Limit: 90 * time.Second, Logger: j.logger()})
				s.set(gadget{name: "a", generation: 2, observed: 1})
				startGenerations(t, g)
				time.Sleep(4 * time.Minute)
				j.wantLines(t, "ahead of their controller")
				before := g.Status()[0]

				s.mu.Lock()
				s.unknown, s.answer = tc.err == nil, func(context.Context, listCall) error { return tc.err }
				s.mu.Unlock()
				time.Sleep(time.Hour)
				j.wantLines(t, tc.want)
				after := g.Status()[0]
				if after.Err == nil || after.Objects != 1 || after.Lagging != 1 || after.LastRead != before.LastRead {
					t.Errorf("%+v, want what was known before, and an error", after)
				}
				if got := after.Worst[0].Age - before.Worst[0].Age; got != time.Hour {
					t.Errorf("it is older by %v, want 1h: nothing has shown that the lag has ended", got)
				}
				g.mu.Lock()
				reads := g.run.kinds[0].reads[tc.result]
				g.mu.Unlock()
				if reads < 14 || reads > 18 { // 1, 2 and then every 4 minutes, and up to a tenth more
					t.Errorf("%d tries in an hour, want some 16", reads)
				}

				s.mu.Lock()
				s.unknown, s.answer = false, nil
				s.mu.Unlock()
				s.set(gadget{name: "a", generation: 2, observed: 2})
				time.Sleep(5 * time.Minute)
				j.wantLines(t, "can be read again", "No object lags any more")
				s.take()
				time.Sleep(30 * time.Minute)
				if n := len(s.take()); n < 28 {
					t.Errorf("%d reads in half an hour after that, want one a minute", n)
				}

				s.script(func(context.Context, listCall) error { return errors.New("again") })
				time.Sleep(3*time.Minute + 30*time.Second)
				j.wantLines(t, "again")
				if n := len(s.take()); n < 2 {
					t.Errorf("%d tries in the first minutes of another failure, want that it begins with a minute again", n)
				}
			})
		})
	}
}

// A read that fails on its way changes nothing, whatever it has seen.
func TestGenerationsHalfRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := &gadgetServer{}, &journal{}
		g := newGenerations(t, s, GenerationOptions{Interval: time.Minute, Limit: time.Minute, Logger: j.logger()})
		many := gadgetsAt(generationPage+2, 1)
		s.set(many...)
		startGenerations(t, g)
		s.script(func(_ context.Context, c listCall) error {
			if c.token != "" {
				return errors.New("connection lost")
			}
			return nil
		})
		s.set(append([]gadget{{name: "behind", generation: 2, observed: 1}}, many[:generationPage]...)...)
		time.Sleep(30 * time.Minute)
		j.wantLines(t, "cannot be read")
		if st := g.Status()[0]; st.Objects != generationPage+2 || st.Trailing != 0 {
			t.Errorf("%+v, want what the complete read has found", st)
		}
	})
}

// A list that hangs does not keep the other kinds from being read.
func TestGenerationsOneHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := &gadgetServer{}, &journal{}
		in := func(ns string) GenerationKind { k := gadgets(); k.Namespace = ns; return k }
		g, err := NewGenerations(s, []GenerationKind{in("a"), in("b")}, GenerationOptions{Logger: j.logger()})
		if err != nil {
			t.Fatal(err)
		}
		s.set(gadget{name: "a", generation: 2, observed: 1})
		n := 0
		s.script(func(ctx context.Context, _ listCall) error {
			if n++; n == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		startGenerations(t, g)
		time.Sleep(DefaultGenerationInterval/2 + generationTick)
		j.wantLines(t, "no answer within 1m0s")
		st := g.Status()
		if st[0].Err == nil || !st[0].LastRead.IsZero() || st[1].Err != nil || st[1].Objects != 1 {
			t.Errorf("%+v, want the second to be read", st)
		}
	})
}

// Kinds are not read at once, and every kind once an Interval or up to a tenth less.
func TestGenerationsSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &gadgetServer{}
		in := func(ns string) GenerationKind { k := gadgets(); k.Namespace = ns; return k }
		g, err := NewGenerations(s, []GenerationKind{in("a"), in("b"), in("c"), in("d"), in("e")}, GenerationOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var at []time.Duration
		began := time.Now()
		s.script(func(context.Context, listCall) error {
			mu.Lock()
			defer mu.Unlock()
			at = append(at, time.Since(began))
			return nil
		})
		reads := func() []time.Duration {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(at)
		}
		startGenerations(t, g)
		time.Sleep(DefaultGenerationInterval * 89 / 100)
		if diff := cmp.Diff([]time.Duration{0, time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute}, reads()); diff != "" {
			t.Errorf("first reads (-want +got):\n%s", diff)
		}
		time.Sleep(time.Hour)
		if n := len(reads()); n < 5*12 || n > 5*15 {
			t.Errorf("%d reads in an hour and a little, want 60 to 75", n)
		}
	})
}

// A process that was stopped has not seen the controller catch up.
func TestGenerationsPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := &gadgetServer{}, &journal{}
		clock := clocktesting.NewFakeClock(generationAt(0))
		g := newGenerations(t, s, GenerationOptions{Logger: j.logger(), Clock: clock})
		s.set(gadget{name: "a", generation: 2, observed: 1})
		startGenerations(t, g)
		clock.Step(time.Nanosecond) // the first look
		synctest.Wait()
		pass := func(d time.Duration) {
			for ; d > 0; d -= generationTick {
				clock.Step(generationTick)
				synctest.Wait()
			}
		}
		pass(time.Minute)
		clock.Step(time.Hour)
		synctest.Wait()
		pass(8 * time.Minute)
		j.wantLines(t)
		if st := g.Status()[0]; st.Trailing != 1 || time.Hour < clock.Since(st.LastRead) {
			t.Errorf("%+v, want it to trail", st)
		}
		pass(2*time.Minute + DefaultGenerationInterval)
		j.wantLines(t, "ahead of their controller")
	})
}

// What one term of leadership has found is not taken over into the next.
func TestGenerationsBeginAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := &gadgetServer{}, &journal{}
		g := newGenerations(t, s, GenerationOptions{Logger: j.logger()})
		s.set(gadget{name: "a", generation: 2, observed: 1})
		stop := startGenerations(t, g)
		if err := g.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "runs already") {
			t.Errorf("a second Start: %v, want that it runs already", err)
		}
		time.Sleep(DefaultGenerationLimit)
		stop()
		time.Sleep(time.Hour)
		startGenerations(t, g)
		time.Sleep(DefaultGenerationLimit)
		j.wantLines(t)
		time.Sleep(DefaultGenerationInterval + generationTick)
		j.wantLines(t, "ahead of their controller")
	})
}

func TestGenerationMetricsGolden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &gadgetServer{}
		in := func(kind, ns string) GenerationKind {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(gadgetKind.GroupVersion().WithKind(kind))
			return GenerationKind{Object: u, Namespace: ns}
		}
		clock := clocktesting.NewFakeClock(generationAt(0))
		g, err := NewGenerations(s, []GenerationKind{in("Gadget", ""), in("Gadget", "b"), in("Widget", "")}, GenerationOptions{Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		s.set(gadget{name: "a", generation: 2, observed: 1}, gadget{name: "b", generation: 1, observed: 1}, gadget{name: "c", generation: 3, observed: 2})
		n := 0
		s.script(func(context.Context, listCall) error {
			if n++; n == 3 { // the second kind, once
				return apierrors.NewTooManyRequests("later", 1)
			}
			return nil
		})
		startGenerations(t, g)
		clock.Step(time.Nanosecond)
		synctest.Wait()
		second := func() {
			clock.Step(generationTick)
			synctest.Wait()
		}
		for range 110 {
			second() // the second kind fails
		}
		dueIn := func(d time.Duration, indices ...int) { // jitter aside
			g.mu.Lock()
			defer g.mu.Unlock()
			for _, i := range indices {
				g.run.kinds[i].due = clock.Now().Add(d)
			}
		}
		dueIn(590*time.Second, 1)
		for range 300 { // the first is read again, and the third
			second()
		}
		s.set(gadget{name: "a", generation: 2, observed: 1}, gadget{name: "b", generation: 2, observed: 1}, gadget{name: "c", generation: 3, observed: 3})
		dueIn(400*time.Second, 0, 2)
		for range 410 {
			second()
		}
		exposition.Golden(t, "generation.golden", g)
	})
}

func TestNewGenerationsValidates(t *testing.T) {
	pod, unnamed := GenerationKind{Object: &corev1.Pod{}}, GenerationKind{Object: &metav1.PartialObjectMetadata{}}
	other := gadgets()
	other.Condition = "Ready"
	for _, tc := range []struct {
		name  string
		kinds []GenerationKind
		opts  GenerationOptions
		want  string // empty: no error
	}{
		{"defaults", []GenerationKind{gadgets()}, GenerationOptions{}, ""},
		{"least", []GenerationKind{gadgets()}, GenerationOptions{Interval: MinGenerationInterval, Limit: MinGenerationInterval}, ""},
		{"most", []GenerationKind{gadgets()}, GenerationOptions{Interval: MaxGenerationInterval, Limit: MaxGenerationLimit}, ""},
		{"the limit follows the interval", []GenerationKind{gadgets()}, GenerationOptions{Interval: MaxGenerationInterval}, ""},
		{"no kinds", nil, GenerationOptions{}, "wants at least one GenerationKind, got none"},
		{"no object", []GenerationKind{gadgets(), {}}, GenerationOptions{}, "GenerationKind.Object of kind 1 is nil"},
		{"nil object", []GenerationKind{{Object: (*corev1.Pod)(nil)}}, GenerationOptions{}, "GenerationKind.Object of kind 0 is nil"},
		{"a kind that the scheme does not know", []GenerationKind{pod}, GenerationOptions{}, "GenerationKind.Object of kind 0 is a *v1.Pod, but must be"},
		{"metadata without a kind", []GenerationKind{unnamed}, GenerationOptions{}, "is a *v1.PartialObjectMetadata, but must be"},
		{"twice", []GenerationKind{gadgets(), other}, GenerationOptions{}, "each kind must be given once"},
		{"too often", []GenerationKind{gadgets()}, GenerationOptions{Interval: MinGenerationInterval - 1}, "Interval is 1.999999999s, but must be at least 2s and at most 1h0m0s"},
		{"too rarely", []GenerationKind{gadgets()}, GenerationOptions{Interval: MaxGenerationInterval + 1}, "Interval is 1h0m0.000000001s"},
		{"negative", []GenerationKind{gadgets()}, GenerationOptions{Interval: -1}, "Interval is -1ns"},
		{"a limit below the interval", []GenerationKind{gadgets()}, GenerationOptions{Interval: time.Minute, Limit: time.Minute - 1}, "Limit is 59.999999999s, but must be at least Interval, which is 1m0s"},
		{"a limit of days", []GenerationKind{gadgets()}, GenerationOptions{Limit: MaxGenerationLimit + 1}, "Limit is 24h0m0.000000001s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := NewGenerations(&gadgetServer{}, tc.kinds, tc.opts)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
	if _, err := NewGenerations(nil, []GenerationKind{gadgets()}, GenerationOptions{}); err == nil {
		t.Error("no error for no manager")
	}
	if _, err := NewGenerations((*gadgetServer)(nil), []GenerationKind{gadgets()}, GenerationOptions{}); err == nil {
		t.Error("no error for a nil manager")
	}
}

// hangingMapper answers when it is told to.
type hangingMapper struct {
	meta.RESTMapper
	asked  atomic.Int32
	answer chan struct{}
}

func (m *hangingMapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.asked.Add(1)
	<-m.answer
	return m.RESTMapper.RESTMapping(gk, versions...)
}

// A mapper that hangs, which takes no context, costs a read a minute and no more: it is
// told, it is not asked again meanwhile, and Start ends when it is to.
func TestGenerationsMapperHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := &gadgetServer{}, &journal{}
		g := newGenerations(t, s, GenerationOptions{Logger: j.logger()})
		mapper := &hangingMapper{RESTMapper: g.mapper, answer: make(chan struct{})}
		g.mapper = mapper
		s.set(gadget{name: "a", generation: 1, observed: 1})
		stop := startGenerations(t, g)
		time.Sleep(time.Hour)
		j.wantLines(t, "no answer within 1m0s")
		if got := mapper.asked.Load(); got != 1 {
			t.Errorf("asked %d times at once", got)
		}
		close(mapper.answer)
		time.Sleep(time.Hour)
		if st := g.Status()[0]; st.Objects != 1 || st.Err != nil {
			t.Errorf("%+v, want it to be read", st)
		}
		stop()
	})
}

// What lags as a whole, and has never been observed, may not report at all.
func TestGenerationsDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := &gadgetServer{}, &journal{}
		g := newGenerations(t, s, GenerationOptions{Logger: j.logger()})
		s.set(gadget{name: "a", generation: 1}, gadget{name: "b", generation: 2})
		startGenerations(t, g)
		time.Sleep(time.Hour)
		j.wantLines(t, "which may be blind or stuck, or never reports a status.observedGeneration")
		s.set(gadget{name: "c"})
		time.Sleep(time.Hour)
		j.wantLines(t, "No object of this kind has a metadata.generation", "No object lags any more")
	})
}

// A kind that is not served has a guess for a name, which may be that of another: metrics
// are sent once.
func TestGenerationsSameGuess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, other := &unstructured.Unstructured{}, &unstructured.Unstructured{}
		one.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Endpoint"})
		other.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Endpoints"})
		g, err := NewGenerations(&gadgetServer{}, []GenerationKind{{Object: one}, {Object: other}}, GenerationOptions{})
		if err != nil {
			t.Fatal(err)
		}
		startGenerations(t, g)
		registry := prometheus.NewRegistry()
		registry.MustRegister(g)
		if _, err := registry.Gather(); err != nil {
			t.Error(err)
		}
	})
}

func TestGenerationsSelectNothing(t *testing.T) {
	kind := gadgets()
	kind.Selector = labels.Nothing()
	_, err := NewGenerations(&gadgetServer{}, []GenerationKind{kind}, GenerationOptions{})
	if want := "reconcile: GenerationKind.Selector of kind 0 selects nothing, as labels.Nothing does, but must select something: leave it nil for all objects"; text(err) != want {
		t.Errorf("error %q, want %q", text(err), want)
	}
}
