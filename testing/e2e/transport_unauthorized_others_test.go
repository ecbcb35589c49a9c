// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// The tests in this file are about answers that say nothing about the credential.
// All pods are hasty: they would exit at the first 401 of their own.

// TestTransportStaysWhenForbidden has a ServiceAccount that may do nothing.
func TestTransportStaysWhenForbidden(t *testing.T) {
	realServerTest(t)
	a := newAccount(t, sharedPlane.Get(t), false)
	p := startPod(t, a.config(t), a.ns, &transport.ExitOptions{Immediate: true}, a.path)
	p.await(t, http.StatusForbidden, patience)
	poll.Until(t.Context(), shortAfter, func() bool { return false })
	p.checkStays(t)
	if told := p.told(); told.count(http.StatusForbidden) != len(told) || p.HasSynced() {
		t.Errorf("answered with other than 403:\n%v", told)
	}
	if own, others := p.counted(t); own != 0 || others != 0 {
		t.Errorf("counted %v answers of 401 of its own, and %v others", own, others)
	}

	// It is not deaf: the same pod exits when its token is dead.
	a.recreate(t)
	p.await(t, http.StatusUnauthorized, patience)
	checkHasty(t, p)
}

// TestTransportStaysForOthers401s has clients of copies of a wrapped config whose
// requests are not made in its own name.
func TestTransportStaysForOthers401s(t *testing.T) {
	realServerTest(t)
	for name, change := range map[string]func(t *testing.T, a *account, api *faultproxy.API, cfg *rest.Config){
		"another token": func(_ *testing.T, _ *account, _ *faultproxy.API, cfg *rest.Config) {
			cfg.BearerToken = "somebody-elses"
		},
		"another dead ServiceAccount": func(t *testing.T, _ *account, _ *faultproxy.API, cfg *rest.Config) {
			dead := newAccount(t, sharedPlane.Get(t), true)
			cfg.BearerToken = dead.tokenUntil(t, time.Now().Add(-time.Hour))
		},
		// The API server would answer an anonymous request with 403, unless it is told
		// to take none (--anonymous-auth=false).
		"anonymous": func(_ *testing.T, _ *account, api *faultproxy.API, cfg *rest.Config) {
			cfg.BearerToken = ""
			api.Inject(faultproxy.Match{User: "anonymous"}, faultproxy.Status{Code: http.StatusUnauthorized})
		},
		// In another name, by a credential that is dead.
		"impersonation": func(t *testing.T, a *account, _ *faultproxy.API, cfg *rest.Config) {
			cfg.Impersonate.UserName = "jane"
			a.recreate(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAccount(t, sharedPlane.Get(t), true)
			api := startAPI(t, a.plane)
			p := newPod(t, api.Config(a.config(t)), &transport.ExitOptions{Immediate: true})
			copied := rest.CopyConfig(p.cfg)
			change(t, a, api, copied)
			q := startInquiry(t, copied, a.path)
			first := q.await(t, http.StatusUnauthorized, patience)
			sleepUntil(t.Context(), first.Add(10*askEvery))

			p.checkStays(t)
			own, others := p.counted(t)
			if want := q.told().count(http.StatusUnauthorized); own != 0 || others < float64(want-1) {
				t.Errorf("counted %v answers of 401 of its own and %v others, want none and %d", own, others, want)
			}
		})
	}
}

// startInquiry asks by a client of the config until the end of the test.
func startInquiry(t *testing.T, cfg *rest.Config, paths ...string) *inquiry {
	t.Helper()
	client, err := kubernetes.NewForConfigAndClient(cfg, httpClientFor(t, cfg))
	if err != nil {
		t.Fatal(err)
	}
	q := &inquiry{client: client.CoreV1().RESTClient(), paths: paths}
	untilEnd(t, q.run)
	return q
}
