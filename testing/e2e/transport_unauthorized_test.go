// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/transport"
)

// jwtLeeway is how long after its expiry kube-apiserver 1.37 still takes a token
// (go-jose, DefaultLeeway).
const jwtLeeway = time.Minute

// TestTransportExitsWhenServiceAccountIsRecreated is the incident itself, in
// processes that really end, or really do not: without the transport a program
// stays up and is refused for ever, and its Pod stays Ready.
func TestTransportExitsWhenServiceAccountIsRecreated(t *testing.T) {
	realServerTest(t)
	for name, tt := range map[string]struct {
		after     time.Duration // 0: at once
		protocols []string
	}{
		"HTTP 2, default":   {after: transport.DefaultExitAfter},
		"HTTP 1.1, short":   {after: shortAfter, protocols: []string{protocolHTTP1}},
		"HTTP 2, immediate": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAccount(t, sharedPlane.get(t), true)
			cfg, _ := a.inCluster(t, a.config(t).BearerToken)
			log := terminationLog(t)
			wrapped := startPodProcess(t, cfg, a, podSpec{Protocols: tt.protocols, Exit: &podExit{After: tt.after, Immediate: tt.after == 0, TerminationLog: log}})
			stock := startPodProcess(t, cfg, a, podSpec{Protocols: tt.protocols})
			for _, p := range []*podProcess{wrapped, stock} {
				p.await(t, http.StatusOK, patience)
			}
			deleted := a.recreate(t)

			first := wrapped.await(t, http.StatusUnauthorized, patience)
			exit, code := wrapped.awaitExit(t, tt.after+patience)
			took := checkExit(t, wrapped.told(), exit, tt.after)
			if code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			checkTold(t, wrapped, log, "of "+a.subject()+",", "The ServiceAccount was probably deleted, and perhaps created again.", "Delete the Pod.")
			checkRefusedForEver(t, stock, exit)
			results.figures(t, map[string]float64{
				"first_401_s": seconds(first.Sub(deleted)), "exit_s": seconds(took), "answers_401": float64(wrapped.told().count(http.StatusUnauthorized)),
				"stock_answers_401": float64(stock.told().count(http.StatusUnauthorized)),
			})
		})
	}
}

// checkTold fails unless the termination message says all this, and a log line
// says the same.
func checkTold(t *testing.T, p *podProcess, file string, want ...string) {
	t.Helper()
	message, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("no termination message: %v", err)
	}
	checkMessage(t, string(message), want...)
	lines := strings.Join(p.logged(), "\n")
	for _, w := range append(want, "Exiting, because of a dead credential") {
		if !strings.Contains(lines, w) {
			t.Errorf("the log does not say %q:\n%s", w, lines)
		}
	}
}

// checkRefusedForEver fails if a process ends, or stops asking, or is answered
// anything but 401 for some time after a moment.
func checkRefusedForEver(t *testing.T, p *podProcess, since time.Time) {
	t.Helper()
	waitFor(t.Context(), shortAfter, p.hasEnded)
	told := p.told().since(since)
	if p.hasEnded() || len(told) < int(shortAfter/askEvery/2) || len(told) != told.count(http.StatusUnauthorized) {
		t.Errorf("the stock process has ended: %t, with %v; its answers since %s, want nothing but 401:\n%v",
			p.hasEnded(), p.err, since.Format("15:04:05.000"), told)
	}
}

// TestTransportExitsOnExpiredToken has a token expire under a running program,
// and nobody renews it.
func TestTransportExitsOnExpiredToken(t *testing.T) {
	realServerTest(t)
	a := newAccount(t, sharedPlane.get(t), true)
	for name, inFile := range map[string]bool{"file": true, "config": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expires := time.Now().Add(10*time.Second - jwtLeeway)
			cfg, _ := a.inCluster(t, a.tokenUntil(t, expires))
			want := []string{a.subject(), "was not renewed in time"}
			if !inFile {
				cfg.BearerTokenFile = ""
				want[1] = "Nothing renews a token that is given to a program in this way"
			}
			guarded := startPod(t, cfg, a.ns, &transport.ExitOptions{After: shortAfter}, a.path)
			stock := startPod(t, cfg, a.ns, nil, a.path)
			guarded.await(t, http.StatusOK, patience)

			first := guarded.await(t, http.StatusUnauthorized, patience)
			exit := guarded.awaitExit(t, shortAfter+patience)
			took := checkExit(t, guarded.told(), exit, shortAfter)
			checkMessage(t, guarded.message(t), append(want, "expired ", "s ago.")...)
			stock.await(t, http.StatusUnauthorized, patience)
			results.figures(t, map[string]float64{
				"first_401_s": seconds(first.Sub(expires)), "exit_s": seconds(took), "stock_401s": float64(stock.told().count(http.StatusUnauthorized)),
			})
		})
	}
}
