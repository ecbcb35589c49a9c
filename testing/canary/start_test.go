// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// Nothing that an alert would take for down is said in the first two minutes.
func TestFirstTwoMinutes(t *testing.T) {
	realplane.Test(t)
	d := newDeployment(t, sharedPlane.Get(t))
	p := d.startPod(t, "starting", podOptions{})
	begin := time.Now()
	fresh := p.awaitFresh(t)
	holds(t, time.Until(begin.Add(2*time.Minute)), "fresh", p.is("Fresh"), p)
	p.now().wantOnly(t, "Standby", "Pending", "Fresh")
	p.wantAlive(t)
	samples := p.now().Last(func(r report) bool { return r.Samples > 0 }).Samples
	if samples < 600 {
		t.Errorf("%d samples in two minutes: too few to say anything", samples)
	}
	figures(t, map[string]any{"freshAfter": fresh, "samples": samples, "spells": len(p.now().spells())})
}

// A canary that writes every 5 s costs less than a request in two seconds.
func TestRequestRate(t *testing.T) {
	realplane.Test(t)
	d := newDeployment(t, sharedPlane.Get(t))
	p := d.startPod(t, "frugal", podOptions{})
	p.awaitFresh(t)
	const minute = time.Minute
	begin := time.Now()
	before := d.canaryRequests(begin)
	holds(t, minute, "fresh", p.is("Fresh"), p)
	after := d.canaryRequests(time.Now())
	total := 0
	byVerb := map[string]int{}
	for verb, n := range after {
		byVerb[verb] = n - before[verb]
		total += byVerb[verb]
	}
	rate := float64(total) / time.Since(begin).Seconds()
	if rate >= 0.5 {
		t.Errorf("%.2f requests a second, want less than 0.5: %v", rate, byVerb)
	}
	if byVerb["update"] < 9 {
		t.Errorf("%d writes in a minute: it does not write every %v", byVerb["update"], interval)
	}
	p.wantAlive(t)
	figures(t, map[string]any{"requestsPerSecond": rate, "byVerb": byVerb})
}

// canaryRequests counts requests for Leases so far, other than for the leader
// election's, by verb.
func (d *deployment) canaryRequests(until time.Time) map[string]int {
	out := map[string]int{}
	for _, r := range d.api.Requests(faultproxy.Match{Resource: "leases"}) {
		if r.Name != election && !r.Start.After(until) {
			out[r.Verb]++
		}
	}
	return out
}

// canaryWrites lists the writes of the canary's Lease that succeeded, in the order in
// which they arrived. The election's Lease is there from the start, so that whoever
// creates one is a canary.
func (d *deployment) canaryWrites() (out []faultproxy.Request) {
	for _, r := range d.api.Requests(faultproxy.Match{Resource: "leases", Namespace: d.ns}) {
		write := r.Verb == "create" || r.Verb == "update" && r.Name == watchcanary.DefaultName
		if write && r.Status < 300 {
			out = append(out, r)
		}
	}
	return out
}
