// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// The tests in this file are about 401s that are no reason to exit. Where they are
// the credential's own, a hasty pod (ExitOptions.Immediate) runs beside the patient
// one, and exits at the first: so there was something to be patient about.

// TestTransportStaysWhenTokenFileIsRotatedLate has a token expire in its file, and
// a kubelet that writes the next one late.
func TestTransportStaysWhenTokenFileIsRotatedLate(t *testing.T) {
	realServerTest(t)
	a := newAccount(t, sharedPlane.Get(t), true)
	for name, delay := range map[string]time.Duration{"30s": 30 * time.Second, "85s": 85 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, file := a.inCluster(t, a.tokenUntil(t, time.Now().Add(10*time.Second-jwtLeeway)))
			patient := startPod(t, cfg, a.ns, &transport.ExitOptions{}, a.path)
			hasty := startPod(t, cfg, a.ns, &transport.ExitOptions{Immediate: true}, a.path)
			stock := startPod(t, cfg, a.ns, nil, a.path)
			patient.await(t, http.StatusOK, patience)

			first := patient.await(t, http.StatusUnauthorized, patience)
			next := a.config(t).BearerToken
			sleepUntil(t.Context(), first.Add(delay))
			writeToken(t, file, next)
			written := time.Now()
			healed := patient.await(t, http.StatusOK, patience)
			stockHealed := stock.await(t, http.StatusOK, patience)
			checkHasty(t, hasty)
			patient.checkWaited(t, delay)
			results.figures(t, map[string]float64{
				"written_s": seconds(written.Sub(first)), "read_after_s": seconds(healed.Sub(written)), "stock_read_after_s": seconds(stockHealed.Sub(written)),
			})
		})
	}
}

// checkHasty fails unless a hasty pod has left, at the first 401.
func checkHasty(t *testing.T, hasty *pod) {
	t.Helper()
	exit := hasty.awaitExit(t, patience)
	if first := hasty.causes[0].Since; exit.Sub(first) > slowAsk || hasty.causes[0].Responses != 1 {
		t.Errorf("the hasty pod left %v after the first 401, after %d answers, want at once", exit.Sub(first), hasty.causes[0].Responses)
	}
}

// checkWaited fails unless the pod has been refused for as long as this, and is
// still there.
func (p *pod) checkWaited(t *testing.T, least time.Duration) {
	t.Helper()
	p.checkStays(t)
	if own, _ := p.counted(t); own < float64(least/askEvery)/2 {
		t.Errorf("counted %v answers of 401, want about %d: there was nothing to wait for", own, least/askEvery)
	}
	if since := figure(t, p.guard, "freshwatch_transport_unauthorized_seconds"); since != 0 {
		t.Errorf("the credential is still suspected, for %vs, though it works:\n%v", since, p.told())
	}
}

// TestTransportStaysWhen401sPass makes the API server answer 401 for a while, or
// now and then. On the wire this is what a webhook authenticator does to every
// client when it cannot be reached, and an OIDC provider whose keys have changed.
func TestTransportStaysWhen401sPass(t *testing.T) {
	realServerTest(t)
	a := newAccount(t, sharedPlane.Get(t), true)
	other := "/api/v1/namespaces/" + a.ns + "/configmaps/other"
	for name, tt := range map[string]struct {
		match faultproxy.Match
		lasts time.Duration
		opts  transport.ExitOptions
	}{
		"for 30s, default": {faultproxy.Match{}, 30 * time.Second, transport.ExitOptions{}},
		// Three times After; with the default that would take 5 minutes.
		"every other": {faultproxy.Match{Name: "other"}, 3 * shortAfter, transport.ExitOptions{After: shortAfter}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := startAPI(t, a.plane)
			cfg := api.Config(a.config(t))
			a.plane.put(t, configMaps.object(a.ns, "other", before), configMaps)
			patient := startPod(t, cfg, a.ns, &tt.opts, a.path, other)
			hasty := startPod(t, cfg, a.ns, &transport.ExitOptions{Immediate: true}, a.path, other)
			patient.await(t, http.StatusOK, patience)
			hasty.await(t, http.StatusOK, patience)

			refusal := api.Inject(tt.match, faultproxy.Status{Code: http.StatusUnauthorized})
			begin := time.Now()
			sleepUntil(t.Context(), begin.Add(tt.lasts))
			refusal.Lift()
			patient.await(t, http.StatusOK, patience)
			poll.Until(t.Context(), 3*askEvery, func() bool { return false })
			checkHasty(t, hasty)
			patient.checkWaited(t, tt.lasts/2)
			told := patient.told().since(begin)
			results.figures(t, map[string]float64{
				"answers_401": float64(told.count(http.StatusUnauthorized)), "answers_200": float64(told.count(http.StatusOK)),
			})
		})
	}
}

// TestTransportStaysWhenOneAPIServerRefuses has one API server of two refuse
// everybody. The client is on it, and its load balancer may lead it there again.
// (kube-apiserver 1.37 itself closes an HTTP/2 connection after a 401; what stands
// before it does not.)
func TestTransportStaysWhenOneAPIServerRefuses(t *testing.T) {
	realServerTest(t)
	a := newAccount(t, sharedPlane.Get(t), true)
	for name, tt := range map[string]struct {
		misses    int // new connections that lead there again
		protocols []string
	}{
		"in turn":             {},
		"by chance":           {misses: 5},
		"in turn, HTTP 1.1":   {protocols: []string{protocolHTTP1}},
		"by chance, HTTP 1.1": {misses: 5, protocols: []string{protocolHTTP1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad, good := startAPI(t, a.plane), startAPI(t, a.plane)
			base := a.config(t)
			base.NextProtos = tt.protocols
			start := func(exit *transport.ExitOptions) (*pod, *switchboard) {
				b := startSwitchboard(t, bad, good)
				p := startPod(t, b.config(base, bad, good), a.ns, exit, a.path)
				p.await(t, http.StatusOK, patience)
				return p, b
			}
			patient, board := start(&transport.ExitOptions{After: shortAfter})
			hasty, hastyBoard := start(&transport.ExitOptions{Immediate: true})
			stock, stockBoard := start(nil)

			used := board.switchAfter(tt.misses)
			hastyBoard.switchAfter(tt.misses)
			stockBoard.switchAfter(tt.misses)
			bad.Inject(faultproxy.Match{}, faultproxy.Status{Code: http.StatusUnauthorized})
			begin := time.Now()
			patient.await(t, http.StatusUnauthorized, patience)
			healed := patient.await(t, http.StatusOK, patience)
			sleepUntil(t.Context(), begin.Add(2*shortAfter))
			checkHasty(t, hasty)
			patient.checkStays(t)
			if told := patient.told().since(healed); told.count(http.StatusOK) != len(told) {
				t.Errorf("the 401s came back:\n%v", told)
			}
			if told := stock.told().since(begin.Add(slowAsk)); told.count(http.StatusUnauthorized) != len(told) {
				t.Errorf("the stock client has left the bad API server as well:\n%v", told)
			}
			results.figures(t, map[string]float64{
				"healed_s": seconds(healed.Sub(begin)), "new_connections": float64(board.connections() - used),
				"stock_answers_401": float64(stock.told().count(http.StatusUnauthorized)),
			})
		})
	}
}

// TestTransportStaysWhenAnAggregatedAPIRefuses has a program that asks for nothing
// but what is behind the API server, where its credential is refused.
func TestTransportStaysWhenAnAggregatedAPIRefuses(t *testing.T) {
	realServerTest(t)
	const behind = "/apis/metrics.k8s.io/v1beta1/nodes"
	a := newAccount(t, sharedPlane.Get(t), true)
	for name, tt := range map[string]struct {
		refused faultproxy.Match
		dead    bool
	}{
		"it alone":           {refused: faultproxy.Match{Path: "/apis/metrics.k8s.io/"}},
		"and the API server": {refused: faultproxy.Match{}, dead: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := startAPI(t, a.plane)
			p := startPod(t, api.Config(a.config(t)), a.ns, &transport.ExitOptions{After: shortAfter}, behind)
			p.await(t, http.StatusForbidden, patience) // nobody serves it, and it may not ask
			api.Inject(tt.refused, faultproxy.Status{Code: http.StatusUnauthorized})
			asked := func() []faultproxy.Request {
				return api.Requests(faultproxy.Match{Verb: "get", Path: "/api", UserAgent: "Go-http-client"})
			}
			if !poll.Until(t.Context(), shortAfter+patience, func() bool { return len(asked()) > 0 }) {
				t.Fatalf("the API server was not asked:\n%v", p.told())
			}
			if tt.dead {
				exit := p.awaitExit(t, patience)
				checkExit(t, p.told(), exit, shortAfter)
				return
			}
			if !poll.Until(t.Context(), shortAfter+patience, func() bool { return len(asked()) > 1 }) {
				t.Fatalf("the API server was not asked again:\n%v", p.told())
			}
			poll.Until(t.Context(), 3*askEvery, func() bool { return false })
			p.checkStays(t)
			if own, _ := p.counted(t); own < 2*float64(shortAfter/askEvery) {
				t.Errorf("counted %v answers of 401, want at least %d", own, 2*shortAfter/askEvery)
			}
			if between := asked()[1].Start.Sub(asked()[0].Start); between < shortAfter {
				t.Errorf("asked again after %v, want a row of another %v first", between, shortAfter)
			}
			for _, r := range asked() {
				if r.Path != "/api" || r.Status != http.StatusOK {
					t.Errorf("%s was answered with %d, want /api with 200", r.Path, r.Status)
				}
			}
		})
	}
}
