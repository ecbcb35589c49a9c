// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshevents"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// client is what Events are made from without a manager.
type client struct {
	config *rest.Config
	http   *http.Client
}

func (c client) GetConfig() *rest.Config     { return c.config }
func (c client) GetHTTPClient() *http.Client { return c.http }

// An operator that may not write Events says so once, with the rule, and goes on: its
// informers stall and are healed as ever.
func TestMissingRight(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	o := startOperator(t, newPod(t, p, nil), freshevents.Options{})
	const rule = `add to its Role there the rule {apiGroups: [\"\"], resources: [events], verbs: [create, patch]}`
	await(t, patience, "the rule is told", func() bool { return len(o.logged(rule)) == 1 })
	fault := o.silence(t)
	took := await(t, 2*patience, "two writes were refused", func() bool { return o.writes() >= 2 })
	fault.Lift()
	await(t, patience, "it is healed", func() bool { return o.fresh() == 1 })
	pass(t, 10*time.Second)
	if got := o.logged(""); len(got) != 1 || !strings.Contains(got[0], rule) {
		t.Errorf("the log has %q", got)
	}
	if got := o.all(t); len(got) > 0 {
		t.Errorf("it may not, and does:\n%s", lines(got))
	}
	figures(t, map[string]any{"refusedAfter": took, "log": o.logged("")})
}

// A token that is bound to no Pod leaves the canary's Lease, whose UID the canary's Role
// lets it read.
func TestLease(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	pod := newPod(t, p, freshevents.Role)
	bind(t, p, pod.namespace, watchcanary.Role(pod.namespace, watchcanary.DefaultName))
	cfg, err := p.ServiceAccount(t.Context(), pod.namespace, account, 0)
	if err != nil {
		t.Fatal(err)
	}
	from := client{cfg, httpClient(t, cfg)}
	canary := must(watchcanary.New(from, watchcanary.Options{Namespace: pod.namespace}))(t)
	events := must(freshevents.New(from, freshevents.Options{Namespace: pod.namespace, Canary: canary.Status}))(t)
	untilEnd(t, canary.Start)
	untilEnd(t, events.Start)
	await(t, patience, "the canary has written its Lease", func() bool { return canary.Status().State == watchcanary.Fresh })
	events.ObserveIncident(flightrecorder.Incident{Informer: freshness.Informer{Version: "v1", Resource: "configmaps"}, Began: time.Now(), Verdict: freshness.Stalled, Diagnosis: "text"})
	await(t, patience, "an Event", func() bool { return len(pod.all(t)) == 1 })
	lease, err := p.Typed.CoordinationV1().Leases(pod.namespace).Get(t.Context(), watchcanary.DefaultName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := eventsOf(t, p, &lease.Name, &pod.namespace, new("Lease"), new(string(lease.UID))); len(got) != 1 {
		t.Errorf("kubectl describe lease would not show\n%s", lines(pod.all(t)))
	}
}
