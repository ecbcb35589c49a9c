// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/watchcanary"
)

const annotation = "freshwatch.github.io/restarts"

func TestHealthy(t *testing.T) {
	scenario(t, func(f *fixture) {
		p := f.start(watchcanary.Options{})
		if s := p.Status().State; s != watchcanary.Pending && s != watchcanary.Standby {
			t.Errorf("%v at the start", s)
		}
		f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
		before := len(f.srv.Log())
		f.holds(time.Hour, "fresh, and alive", func() bool { return p.is(watchcanary.Fresh)() && !p.fails() })
		if n := len(f.srv.Log()) - before; n > 4*60 {
			t.Errorf("%d requests in an hour, want a write and a proof a minute, and the watches", n)
		}
		if l := f.lease(watchcanary.DefaultName); l.Annotations[annotation] != "" {
			t.Errorf("annotation %q", l.Annotations[annotation])
		}
	})
}

// The watch that is open dies; new ones work.
func TestStalledWatchIsCuredByARestart(t *testing.T) {
	scenario(t, func(f *fixture) {
		o := watchcanary.Options{}
		p := f.start(o)
		f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
		f.srv.Stall(leases)
		took := f.await(3*time.Minute, "stalled", p.is(watchcanary.Stalled))
		if took > watchcanary.DefaultInterval+20*time.Second {
			t.Errorf("stalled after %v", took)
		}
		took += f.await(10*time.Minute, "liveness fails", p.fails)
		if most := watchcanary.DefaultFailAfter + watchcanary.DefaultInterval; took > most {
			t.Errorf("liveness fails after %v, want at most %v", took, most)
		}
		if took < watchcanary.DefaultFailAfter {
			t.Errorf("liveness fails after %v already", took)
		}
		p.stop()
		if p.fails() || !p.is(watchcanary.Standby)() {
			t.Errorf("%v of one that does not lead", p.Status())
		}
		p = f.start(o)
		f.await(10*time.Second, "fresh after the restart", p.is(watchcanary.Fresh))
		if got := p.Status().Restarts; got != 1 {
			t.Errorf("%d restarts remembered, want 1", got)
		}
		f.await(watchcanary.DefaultHealthyAfter+2*time.Minute, "forgotten", func() bool { return p.Status().Restarts == 0 })
		if l := f.lease(watchcanary.DefaultName); l.Annotations[annotation] != "" {
			t.Errorf("annotation %q", l.Annotations[annotation])
		}
	})
}

// Every watch dies soon after its beginning: three restarts, and then none.
func TestRestartsThatDoNotHelpStop(t *testing.T) {
	scenario(t, func(f *fixture) {
		o := watchcanary.Options{}
		start := func() *process {
			p := f.start(o)
			f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
			f.srv.Stall(leases)
			return p
		}
		p := start()
		for range watchcanary.DefaultRestarts {
			f.await(10*time.Minute, "liveness fails", p.fails)
			p.stop()
			p = start()
		}
		f.await(10*time.Minute, "exhausted", func() bool { return p.Status().Exhausted })
		f.holds(30*time.Minute, "no more restarts", func() bool { return !p.fails() })
		if got := p.Status(); got.Restarts > watchcanary.DefaultRestarts {
			t.Errorf("%+v", got)
		}
	})
}

// The program's own monitor cures the canary's informer like the others, and no restart
// is asked for.
func TestStalledWatchIsCuredByTheMonitor(t *testing.T) {
	scenario(t, func(f *fixture) {
		m := f.monitor(freshness.Options{})
		p := f.start(watchcanary.Options{Monitor: m})
		f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
		for range 5 {
			f.srv.Stall(leases)
			f.holds(10*time.Minute, "alive", func() bool { return !p.fails() })
			if s := p.Status(); s.State != watchcanary.Fresh {
				t.Errorf("%+v", s)
			}
		}
		if st := m.Status(); len(st) != 1 || st[0].Cures[freshness.Resume] < 5 {
			t.Errorf("%+v", st)
		}
		p.stop()
		f.await(time.Minute, "forgotten by the monitor", func() bool { return len(m.Status()) == 0 })
	})
}

func TestServerAway(t *testing.T) {
	scenario(t, func(f *fixture) {
		p := f.start(watchcanary.Options{})
		f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
		away := f.srv.Refuse()
		f.srv.DropConnections()
		f.holds(10*time.Minute, "no restart", func() bool { return !p.fails() && !p.is(watchcanary.Stalled)() })
		if s := p.Status(); s.State != watchcanary.Blind {
			t.Errorf("%+v", s)
		}
		away.Lift()
		f.await(2*time.Minute, "fresh", p.is(watchcanary.Fresh))
		f.holds(10*time.Minute, "fresh", p.is(watchcanary.Fresh))
	})
}

func TestFrozenWatchCache(t *testing.T) {
	scenario(t, func(f *fixture) {
		p := f.start(watchcanary.Options{})
		f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
		frozen := f.srv.FreezeWatchCache(leases)
		f.await(3*time.Minute, "noticed", p.is(watchcanary.ControlPlaneStalled))
		f.holds(30*time.Minute, "no restart", func() bool { return !p.fails() && !p.is(watchcanary.Stalled)() })
		frozen.Lift()
		f.await(2*time.Minute, "fresh", p.is(watchcanary.Fresh))
	})
}

func TestWithoutRights(t *testing.T) {
	for name, verbs := range map[string][]string{
		"none": {"get", "list", "watch", "create", "update"}, "no writes": {"create", "update"}, "no watches": {"watch", "list"},
	} {
		t.Run(name, func(t *testing.T) {
			scenario(t, func(f *fixture) {
				denied := f.srv.Deny(leases, verbs...)
				p := f.start(watchcanary.Options{})
				f.holds(2*time.Minute, "pending", func() bool { return p.is(watchcanary.Pending)() || p.is(watchcanary.Standby)() })
				f.await(2*time.Minute, "blind", p.is(watchcanary.Blind))
				f.holds(20*time.Minute, "blind", func() bool { return p.is(watchcanary.Blind)() && !p.fails() })
				s := p.Status()
				if len(s.Missing) != len(verbs) {
					t.Errorf("missing %v, want %v", s.Missing, verbs)
				}
				for _, word := range []string{"leases.coordination.k8s.io", namespace, "verbs: ["} {
					if !strings.Contains(s.Reason, word) || !strings.Contains(f.told(), word) {
						t.Errorf("%q and the log do not say %q:\n%s", s.Reason, word, f.told())
					}
				}
				denied.Lift()
				f.await(3*time.Minute, "fresh", p.is(watchcanary.Fresh))
				f.await(2*watchcanary.DefaultInterval, "nothing is missing", func() bool { return len(p.Status().Missing) == 0 })
			})
		})
	}
}

func TestSomebodyDisturbsTheLease(t *testing.T) {
	for name, disturb := range map[string]func(f *fixture){
		"deleted": func(f *fixture) {
			if err := f.client().CoordinationV1().Leases(namespace).Delete(f.Context(), watchcanary.DefaultName, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		},
		"annotated": func(f *fixture) {
			f.patch(`{"metadata":{"annotations":{"` + annotation + `":"yesterday, 2999-01-01T00:00:00Z,,x","mine":"kept"}}}`)
		},
		"holder taken away": func(f *fixture) { f.patch(`{"spec":{"holderIdentity":null,"renewTime":null}}`) },
	} {
		t.Run(name, func(t *testing.T) {
			scenario(t, func(f *fixture) {
				p := f.start(watchcanary.Options{})
				f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
				disturb(f)
				f.holds(20*time.Minute, "fresh", func() bool { return p.is(watchcanary.Fresh)() && !p.fails() })
				l := f.lease(watchcanary.DefaultName)
				if l.Annotations[annotation] != "" || l.Spec.RenewTime == nil || time.Since(l.Spec.RenewTime.Time) > 2*time.Minute {
					t.Errorf("%+v", l)
				}
				if name == "annotated" && l.Annotations["mine"] != "kept" {
					t.Errorf("annotations %v", l.Annotations)
				}
			})
		})
	}
}

func (f *fixture) patch(body string) {
	f.Helper()
	if _, err := f.client().CoordinationV1().Leases(namespace).Patch(f.Context(), watchcanary.DefaultName, types.MergePatchType, []byte(body), metav1.PatchOptions{}); err != nil {
		f.Error(err)
	}
}

func TestShortFailAfter(t *testing.T) {
	scenario(t, func(f *fixture) {
		const interval = 5 * time.Second
		p := f.start(watchcanary.Options{Interval: interval, FailAfter: 3 * interval})
		f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
		before := len(f.srv.Log())
		f.holds(10*time.Minute, "fresh", func() bool { return p.is(watchcanary.Fresh)() && !p.fails() })
		if perSecond := float64(len(f.srv.Log())-before) / 600; perSecond > 0.5 {
			t.Errorf("%.2f requests a second", perSecond)
		}
		f.srv.Stall(leases)
		if took := f.await(time.Minute, "liveness fails", p.fails); took > 4*interval {
			t.Errorf("after %v", took)
		}
	})
}
