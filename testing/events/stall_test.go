// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshevents"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// maxStaleness is short, so that the tests are.
const maxStaleness = 30 * time.Second

// settled is how long a second Event of one reason may take.
const settled = time.Minute + 15*time.Second

// silence makes all watches of ConfigMaps silent, those that are made to heal one too, and
// writes so that they owe something.
func (o *operator) silence(t *testing.T) *faultproxy.Injection {
	t.Helper()
	fault := o.proxy.Inject(faultproxy.Match{Verb: "watch", Resource: "configmaps"}, faultproxy.Silence{})
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "edit-"}}
	if _, err := o.plane.Typed.CoreV1().ConfigMaps(o.namespace).Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return fault
}

// A watch falls silent in an operator, and in another beside it none does. The first has
// one Event that tells of it and one of its cure, about the Pod that its token names, and
// the other has none.
func TestStall(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	control := startOperator(t, newPod(t, p, freshevents.Role), freshevents.Options{})
	o := startOperator(t, newPod(t, p, freshevents.Role), freshevents.Options{})
	healthy := time.Now()
	if got := o.all(t); len(got) > 0 {
		t.Errorf("before the fault %s", lines(got))
	}
	fault := o.silence(t)
	begin := time.Now()
	o.waitFor(t, patience, "InformerStalled")
	took := time.Since(begin)
	fault.Lift()
	o.waitFor(t, patience, "InformerHealed")
	pass(t, settled)
	got := o.described(t)
	if len(got) != 2 || got[0].Reason != "InformerStalled" || got[1].Reason != "InformerHealed" || got[0].Count != 1 || got[1].Count != 1 {
		t.Fatalf("kubectl describe would show\n%s", lines(got))
	}
	if all := o.all(t); len(all) != 2 {
		t.Errorf("there are others:\n%s", lines(all))
	}
	if got[0].Type != corev1.EventTypeWarning || got[1].Type != corev1.EventTypeNormal || !strings.Contains(got[0].Message, "fell silent") || !strings.Contains(got[1].Message, "healed it") {
		t.Errorf("%s", lines(got))
	}
	noticed := got[0].LastTimestamp.Sub(begin)
	if noticed < -time.Second || got[0].CreationTimestamp.Sub(got[0].LastTimestamp.Time) < 5*time.Second {
		t.Errorf("it was noticed %v after the fault, and written at %v: an Event has its own time", noticed, got[0].CreationTimestamp)
	}
	if got := control.all(t); len(got) > 0 || time.Since(healthy) < time.Minute {
		t.Errorf("without a fault, in %v:\n%s", time.Since(healthy), lines(got))
	}
	if n := len(o.logged("")) + len(control.logged("")); n > 0 {
		t.Errorf("%d lines are logged: %q, %q", n, o.logged(""), control.logged(""))
	}
	figures(t, map[string]any{"noticedAfter": noticed, "toldAfter": took, "message": got[0].Message, "healed": got[1].Message})
}

// 50 informers stall at once, and are healed: a few Events, which tell of all of it.
func TestManyInformers(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	const n = 50
	namespaces := make([]string, n)
	for i := range namespaces {
		namespaces[i] = fmt.Sprintf("there-is-none-%03d", i) // which can be watched all the same
	}
	o := startOperator(t, newPod(t, p, freshevents.Role), freshevents.Options{}, namespaces...)
	fault := o.silence(t)
	begin := time.Now()
	await(t, patience, "all stall", func() bool { stalls, _ := o.heard(); return stalls >= n })
	stalling := time.Since(begin)
	fault.Lift()
	await(t, patience, "all are healed", func() bool { return o.fresh() == n })
	pass(t, settled)
	stalls, cures := o.told(t)
	heardStalls, heardCures := o.heard()
	figures(t, map[string]any{
		"informers": n, "stalls": heardStalls, "cures": heardCures, "stallsTold": stalls, "curesTold": cures,
		"stallingFor": stalling, "writes": o.writes(), "in": time.Since(begin), "events": lines(o.described(t)),
	})
	if stalls != heardStalls || cures != heardCures {
		t.Errorf("told of %d stalls and %d cures, of %d and %d", stalls, cures, heardStalls, heardCures)
	}
	if o.writes() > 10 {
		t.Errorf("%d writes", o.writes())
	}
}

// told sums up how many stalls and cures Events tell of.
func (o *operator) told(t *testing.T) (stalls, cures int32) {
	t.Helper()
	for _, e := range o.described(t) {
		switch e.Reason {
		case "InformerStalled":
			stalls += e.Count
		case "InformerHealed":
			cures += e.Count
		}
	}
	return stalls, cures
}

// The API server does not take Events for a while. They are kept, and have the time at
// which it happened; and what happens right before the end is not lost.
func TestLateAndLast(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	pod := newPod(t, p, freshevents.Role)
	proxy := must(faultproxy.NewAPI(p.Config(), faultproxy.APIOptions{}))(t)
	t.Cleanup(func() { _ = proxy.Close() })
	cfg := proxy.Config(pod.cfg)
	events := must(freshevents.New(client{cfg, httpClient(t, cfg)}, freshevents.Options{}))(t)
	stop := untilEnd(t, events.Start)
	fault := proxy.Inject(faultproxy.Match{Resource: "events"}, faultproxy.Status{Code: 503})
	informer := freshness.Informer{Version: "v1", Resource: "configmaps"}
	happened := time.Now()
	events.ObserveIncident(flightrecorder.Incident{Informer: informer, Began: happened, Verdict: freshness.Stalled, Diagnosis: "first"})
	await(t, patience, "some attempts fail", func() bool { return fault.Hits() >= 3 })
	if got := pod.all(t); len(got) > 0 {
		t.Fatalf("it was written:\n%s", lines(got))
	}
	fault.Lift()
	await(t, patience, "it is written", func() bool { return len(pod.described(t)) == 1 })
	events.ObserveIncident(flightrecorder.Incident{Informer: informer, Began: happened, Ended: time.Now(), Verdict: freshness.Stalled, Diagnosis: "last"})
	ending := time.Now()
	stop()
	if took := time.Since(ending); took > 10*time.Second {
		t.Errorf("the end took %v", took)
	}
	got := pod.described(t)
	if len(got) != 2 || got[0].Message != "first" || got[1].Message != "last" || got[0].LastTimestamp.Sub(happened).Abs() > 2*time.Second {
		t.Errorf("it happened at %v; written were\n%s", happened, lines(got))
	}
	figures(t, map[string]any{"writtenAfter": got[0].CreationTimestamp.Sub(happened), "attempts": fault.Hits() + 1})
}

// waitFor waits until there are Events of these reasons.
func (o *operator) waitFor(t *testing.T, limit time.Duration, reasons ...string) {
	t.Helper()
	missing := func() []string {
		has := lines(o.described(t))
		return slices.DeleteFunc(slices.Clone(reasons), func(r string) bool { return strings.Contains(has, r) })
	}
	if !poll.Until(t.Context(), limit, func() bool { return len(missing()) == 0 }) {
		t.Fatalf("not within %v: Events %q; there are\n%s; informers: %+v", limit, missing(), lines(o.all(t)), o.monitor.Status()[0])
	}
}

// lines shows Events as kubectl does.
func lines(of []corev1.Event) string {
	var b strings.Builder
	for _, e := range of {
		fmt.Fprintf(&b, "%s %s x%d from %s to %s, written %s: %s\n", e.Type, e.Reason, e.Count,
			e.FirstTimestamp.Format(time.TimeOnly), e.LastTimestamp.Format(time.TimeOnly), e.CreationTimestamp.Format(time.TimeOnly), e.Message)
	}
	return b.String()
}
