// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// A stall and its cure are two Events about the Pod that the token names, with the times
// at which they happened.
func TestStallAndCure(t *testing.T) {
	scenario(t, Options{}, func(f *fixture) {
		time.Sleep(time.Minute)
		f.wantWritten() // nothing has happened
		begin := time.Now()
		f.ObserveIncident(stalled(configMaps))
		time.Sleep(time.Second)
		f.ObserveIncident(healed(configMaps))
		time.Sleep(gather + 2*tick)
		got := f.wantWritten(
			"Warning InformerStalled: The watch of configmaps/v1 fell silent.",
			"Normal InformerHealed: The watch of configmaps/v1 fell silent; resume healed it.",
		)
		f.wantCounts(map[string]uint64{"ok": 2})
		if len(f.told()) > 0 {
			t.Errorf("it logs %q", f.told())
		}
		if len(got) != 2 {
			return
		}
		e := got[0]
		if diff := cmp.Diff(pod, e.InvolvedObject); diff != "" {
			t.Errorf("about (-want +got):\n%s", diff)
		}
		if !e.FirstTimestamp.Equal(&metav1.Time{Time: begin}) || !e.LastTimestamp.Equal(&metav1.Time{Time: begin}) || e.Count != 1 {
			t.Errorf("at %v to %v, %d times, want at %v", e.FirstTimestamp, e.LastTimestamp, e.Count, begin)
		}
		if e.Source != (corev1.EventSource{Component: DefaultComponent}) || e.ReportingController != DefaultComponent || e.Namespace != pod.Namespace {
			t.Errorf("from %+v, %s, in %s", e.Source, e.ReportingController, e.Namespace)
		}
	})
}

// Many informers at once are a few Events, however they are spread over time.
func TestManyInformers(t *testing.T) {
	for name, within := range map[string]time.Duration{"at once": 0, "over a minute, as proofs are": time.Minute} {
		t.Run(name, func(t *testing.T) {
			scenario(t, Options{}, func(f *fixture) {
				const n = 1000
				of := func(i int) freshness.Informer {
					return freshness.Informer{Group: "example.com", Version: "v1", Resource: fmt.Sprintf("kind%04d", i)}
				}
				for i := range n {
					f.ObserveIncident(stalled(of(i)))
					time.Sleep(within / n)
					f.ObserveIncident(healed(of(i)))
				}
				time.Sleep(time.Minute - within)
				if got := f.attempts(); got > 4 {
					t.Errorf("%d writes in the first minute", got)
				}
				time.Sleep(5 * time.Minute)
				if got := f.attempts(); got > 4 {
					t.Errorf("%d writes", got)
				}
				var stalls, heals int32
				for _, e := range f.written() {
					t.Log(e.Reason, e.Count, e.Message)
					if e.Reason == "InformerStalled" {
						stalls += e.Count
					} else {
						heals += e.Count
					}
				}
				if stalls != n || heals != n {
					t.Errorf("%d stalls and %d cures were told, of %d", stalls, heals, n)
				}
			})
		})
	}
}

// An informer that stalls once a minute for half a day is a few Events, which are counted
// up.
func TestFlapping(t *testing.T) {
	scenario(t, Options{}, func(f *fixture) {
		const hours = 12
		for range hours * 60 {
			f.ObserveIncident(stalled(configMaps))
			i := stalled(configMaps)
			i.Verdict, i.Diagnosis = freshness.ControlPlaneStalled, fmt.Sprintf("It stands still at %d%s.", time.Now().Unix(), strings.Repeat(" ", 2000))
			f.ObserveIncident(i)
			time.Sleep(time.Minute)
		}
		if got, most := f.attempts(), burst+hours*60; got > most || got < most-5 {
			t.Errorf("%d writes in %d hours, want about %d", got, hours, most)
		}
		got := f.written()
		if most := 1 + similarAtMost + 1; len(got) != most {
			t.Errorf("%d Events, want %d: one that is always the same, and of the others no more than are told apart", len(got), most)
		}
		for _, e := range got {
			if len(e.Message) >= 1024 {
				t.Errorf("a message has %d bytes", len(e.Message))
			}
		}
		if last := got[len(got)-1]; time.Since(last.LastTimestamp.Time) > 3*time.Minute {
			t.Errorf("the last is of %v: %s", last.LastTimestamp, last.Message)
		}
	})
}

// What cannot be written is kept, however long that takes, and has its own time.
func TestServerAway(t *testing.T) {
	for name, away := range map[string]func(f *fixture) (back func()){
		"refused": func(f *fixture) func() {
			fault := f.srv.Refuse()
			f.srv.DropConnections()
			return fault.Lift
		},
		"unavailable":  func(f *fixture) func() { return f.srv.Respond(events, "", http.StatusServiceUnavailable, 0).Lift },
		"busy":         func(f *fixture) func() { return f.srv.Respond(events, "", http.StatusTooManyRequests, 0).Lift },
		"a late token": func(f *fixture) func() { return f.srv.Respond(events, "", http.StatusUnauthorized, 0).Lift },
		"a black hole": func(f *fixture) func() {
			hole, refuse := f.srv.BlackHole(), f.srv.Refuse() // of what is open, and for what is not
			return func() { hole.Lift(); refuse.Lift(); f.srv.DropConnections() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			scenario(t, Options{}, func(f *fixture) {
				time.Sleep(2 * tick)
				back := away(f)
				first := time.Now()
				f.ObserveIncident(stalled(configMaps))
				time.Sleep(time.Hour)
				f.ObserveIncident(stalled(configMaps))
				time.Sleep(time.Hour)
				second := time.Now()
				f.ObserveIncident(stalled(freshness.Informer{Version: "v1", Resource: "secrets"}))
				before := f.srv.Requests(events, "create")
				time.Sleep(time.Hour)
				if name == "unavailable" {
					if n := f.srv.Requests(events, "create") - before; n < 48 || n > 62 {
						t.Errorf("%d attempts in an hour", n)
					}
				}
				if lines := f.told(); len(lines) != 1 || !strings.Contains(lines[0], "An Event cannot be written: it is kept, and tried again") {
					t.Errorf("the log has %q", lines)
				}
				back()
				time.Sleep(3 * time.Minute)
				got := f.wantWritten(
					"Warning InformerStalled: The watch of configmaps/v1 fell silent.",
					"Warning InformerStalled: 2 of 1000 informers (configmaps/v1, secrets/v1). The last: The watch of secrets/v1 fell silent.",
				)
				if len(got) != 2 || !got[0].FirstTimestamp.Equal(&metav1.Time{Time: first}) || !got[1].LastTimestamp.Equal(&metav1.Time{Time: second}) || got[1].Count != 2 {
					t.Errorf("want them at %v and %v: %+v", first, second, got)
				}
				if lines := f.told(); len(lines) != 2 || !strings.Contains(lines[1], "Events are written again") {
					t.Errorf("the log has %q", lines)
				}
			})
		})
	}
}

// A right that is missing is told once, with the rule, before anything has happened.
// Nothing else is affected, and when it is given, Events are written.
func TestMissingRight(t *testing.T) {
	for name, verbs := range map[string][]string{"all": nil, "create": {"create"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fixture{T: t, srv: freshtest.Start(t, freshtest.Options{Token: tokenOf(claimsOfPod)})}
				denied := f.srv.Deny(events, verbs...)
				f.make(Options{})
				f.start()
				time.Sleep(time.Minute)
				const rule = `add to its Role there the rule {apiGroups: [\"\"], resources: [events], verbs: [create, patch]}`
				lines := f.told()
				if len(lines) != 1 || !strings.Contains(lines[0], rule) || !strings.Contains(lines[0], `in namespace \"operators\"`) {
					t.Fatalf("the log has %q", lines)
				}
				for range 10 {
					f.ObserveIncident(stalled(configMaps))
					time.Sleep(2 * time.Minute)
				}
				if got := f.told(); len(got) != 1 {
					t.Errorf("the log has %q", got)
				}
				f.wantCounts(map[string]uint64{"forbidden": 10})
				denied.Lift()
				f.ObserveIncident(stalled(configMaps))
				time.Sleep(2 * time.Minute)
				f.wantWritten("Warning InformerStalled: The watch of configmaps/v1 fell silent.")
				if got := f.told(); len(got) != 2 || !strings.Contains(got[1], "Events are written again") {
					t.Errorf("the log has %q", got)
				}
			})
		})
	}
}

// A quota, or a webhook, refuses for good. It is not taken for a missing right.
func TestRejected(t *testing.T) {
	for _, code := range []int{http.StatusForbidden, http.StatusUnprocessableEntity} {
		scenario(t, Options{}, func(f *fixture) {
			f.srv.Respond(events, "create", code, 1)
			f.ObserveIncident(stalled(configMaps))
			time.Sleep(2 * time.Minute)
			f.wantCounts(map[string]uint64{"rejected": 1})
			if lines := f.told(); len(lines) != 1 || strings.Contains(lines[0], "Role") {
				t.Errorf("the log has %q", lines)
			}
			f.ObserveIncident(stalled(configMaps))
			time.Sleep(2 * time.Minute)
			f.wantCounts(map[string]uint64{"rejected": 1, "ok": 1})
		})
	}
}

// An Event that has expired is written anew.
func TestExpired(t *testing.T) {
	scenario(t, Options{}, func(f *fixture) {
		f.ObserveIncident(stalled(configMaps))
		time.Sleep(2 * time.Minute)
		for _, e := range f.written() {
			if err := f.srv.Delete(&e); err != nil {
				t.Fatal(err)
			}
		}
		f.ObserveIncident(stalled(configMaps))
		time.Sleep(2 * time.Minute)
		if got := f.wantWritten("Warning InformerStalled: The watch of configmaps/v1 fell silent."); len(got) == 1 && got[0].Count != 2 {
			t.Errorf("count %d, want 2", got[0].Count)
		}
		f.wantCounts(map[string]uint64{"ok": 2})
	})
}

// What has just happened is written when the program ends, what happened to nobody is not.
func TestFlush(t *testing.T) {
	var now atomic.Pointer[watchcanary.Status]
	now.Store(&watchcanary.Status{State: watchcanary.Fresh})
	scenario(t, Options{Canary: func() watchcanary.Status { return *now.Load() }}, func(f *fixture) {
		time.Sleep(time.Minute + tick/2)
		now.Store(&watchcanary.Status{State: watchcanary.Stalled, Reason: "no more restarts", Exhausted: true})
		f.ObserveIncident(stalled(configMaps))
		if took := f.stop(); took > time.Second {
			t.Errorf("it took %v", took)
		}
		f.wantWritten(
			"Warning RestartBudgetSpent: Watch canary: no more restarts.",
			"Warning CanaryStalled: Watch canary: no more restarts.",
			"Warning InformerStalled: The watch of configmaps/v1 fell silent.",
		)
	})
	scenario(t, Options{}, func(f *fixture) {
		time.Sleep(time.Minute)
		f.stop()
		f.wantWritten()
	})
}

// The end is not held up, by an API server that is away or does not answer, nor by a
// client that does not look at its context.
func TestFlushIsBounded(t *testing.T) {
	for name, away := range map[string]func(f *fixture){
		"refused":      func(f *fixture) { f.srv.Refuse(); f.srv.DropConnections() },
		"a black hole": func(f *fixture) { f.srv.BlackHole() },
	} {
		for _, since := range []time.Duration{0, 11 * time.Second, time.Minute} {
			t.Run(fmt.Sprintf("%s, %v before", name, since), func(t *testing.T) {
				scenario(t, Options{}, func(f *fixture) {
					time.Sleep(2 * tick)
					away(f)
					f.ObserveIncident(stalled(configMaps))
					time.Sleep(since)
					f.ObserveIncident(healed(configMaps))
					if took := f.stop(); took > flushTimeout+leaveTimeout {
						t.Errorf("it took %v", took)
					}
				})
			})
		}
	}
}

// deaf is a client that does not look at its context.
type deaf chan struct{}

func (d deaf) RoundTrip(*http.Request) (*http.Response, error) {
	<-d
	return nil, context.Canceled
}

func TestDeafClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := make(deaf)
		e, err := New(watchcanary.Client{Config: &rest.Config{BearerToken: tokenOf(claimsOfPod)}, HTTP: &http.Client{Transport: d}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		e.ObserveIncident(stalled(configMaps))
		if err := e.Start(ctx); err != nil {
			t.Error(err)
		}
		begin, _ := ctx.Deadline()
		if took := time.Since(begin); took > flushTimeout+leaveTimeout {
			t.Errorf("it took %v", took)
		}
		close(d)
	})
}

// Outside of a pod, with nothing that Events could be about, one line says so.
func TestNoObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{T: t, srv: freshtest.Start(t, freshtest.Options{})}
		f.make(Options{})
		f.start()
		f.ObserveIncident(stalled(configMaps))
		time.Sleep(time.Minute)
		f.ObserveIncident(stalled(configMaps))
		time.Sleep(2 * time.Minute)
		if lines := f.told(); len(lines) != 1 || !strings.Contains(lines[0], "set Options.Object") {
			t.Errorf("the log has %q", lines)
		}
		f.wantCounts(map[string]uint64{"dropped": 2})
		if n := len(f.srv.Log()); n > 0 {
			t.Errorf("%d requests were sent", n)
		}
	})
}

// Without a Pod Events are about the canary's Lease, once that is there.
func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{T: t, srv: freshtest.Start(t, freshtest.Options{})}
		f.make(Options{Namespace: "ns"})
		f.start()
		f.ObserveIncident(stalled(configMaps))
		time.Sleep(10 * time.Minute)
		f.wantWritten()
		canary, err := watchcanary.New(watchcanary.Client{Config: f.srv.Config(), HTTP: mustHTTP(t, f.srv.Config())}, watchcanary.Options{Namespace: "ns", Logger: f.opts.Logger})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		if err := canary.Start(ctx); err != nil {
			t.Error(err)
		}
		got := f.wantWritten("Warning InformerStalled: The watch of configmaps/v1 fell silent.")
		if len(got) == 1 {
			if o := got[0].InvolvedObject; o.Kind != "Lease" || o.Name != watchcanary.DefaultName || o.Namespace != "ns" || o.UID == "" || got[0].Source.Host == "" {
				t.Errorf("about %+v, from %+v", o, got[0].Source)
			}
		}
	})
}

func mustHTTP(t *testing.T, cfg *rest.Config) *http.Client {
	t.Helper()
	c, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// What does not tell by itself is asked.
func TestAsks(t *testing.T) {
	var running atomic.Pointer[[]flightrecorder.Reconcile]
	var budgets atomic.Pointer[[]string]
	var status atomic.Pointer[watchcanary.Status]
	running.Store(&[]flightrecorder.Reconcile{})
	budgets.Store(&[]string{})
	status.Store(&watchcanary.Status{State: watchcanary.Fresh})
	scenario(t, Options{
		Canary:       func() watchcanary.Status { return *status.Load() },
		Reconciles:   func() []flightrecorder.Reconcile { return *running.Load() },
		SpentBudgets: func() []string { return *budgets.Load() },
	}, func(f *fixture) {
		time.Sleep(time.Minute + tick/2)
		running.Store(&[]flightrecorder.Reconcile{{Controller: "pods", Request: secret, Age: 960, Stage: "Wedged"}})
		time.Sleep(tick)
		budgets.Store(&[]string{"3 in 24h"})
		status.Store(&watchcanary.Status{State: watchcanary.Stalled, Reason: "a write has not come back"})
		time.Sleep(time.Minute)
		f.wantWritten(
			"Warning ReconcileWedged: A reconcile of controller \"pods\" has been running for 16m and ignores that its context has ended, so a worker is lost: its stack is in the log.",
			"Warning RestartBudgetSpent: No more restarts are asked for, since those before have not helped: look for the cause. The budget: 3 in 24h.",
			"Warning CanaryStalled: Watch canary: a write has not come back.",
		)
		time.Sleep(time.Hour)
		f.wantCounts(map[string]uint64{"ok": 3})
	})
}

// They run once at a time, and again after that; and a recorder may be there before them.
func TestStart(t *testing.T) {
	(*Events)(nil).ObserveIncident(stalled(configMaps))
	scenario(t, Options{}, func(f *fixture) {
		if f.NeedLeaderElection() {
			t.Error("each replica has informers of its own")
		}
		synctest.Wait()
		if err := f.Start(t.Context()); err == nil {
			t.Error("they run twice")
		}
		f.stop()
		f.ObserveIncident(stalled(configMaps))
		f.start()
		time.Sleep(time.Minute)
		f.wantWritten("Warning InformerStalled: The watch of configmaps/v1 fell silent.")
	})
}
