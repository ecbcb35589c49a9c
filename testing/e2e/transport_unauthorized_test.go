// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// jwtLeeway is how long after its expiry kube-apiserver 1.37 still takes a token
// (go-jose, DefaultLeeway).
const jwtLeeway = time.Minute

// tokenCache is how long kube-apiserver 1.37 goes by what it last found out about a
// token that was good (TokenSuccessCacheTTL).
const tokenCache = 10 * time.Second

// TestTransportExitsWhenServiceAccountIsRecreated is the incident itself, in
// processes that really end, or really do not: without the transport a program
// stays up and is refused for ever, and its Pod stays Ready.
func TestTransportExitsWhenServiceAccountIsRecreated(t *testing.T) {
	realServerTest(t)
	for name, tt := range map[string]struct {
		after     time.Duration
		protocols []string
	}{
		"HTTP 2, default": {after: transport.DefaultExitAfter},
		"HTTP 1.1, short": {after: shortAfter, protocols: []string{protocolHTTP1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIncident(t, podSpec{Protocols: tt.protocols, Exit: &podExit{After: tt.after}})
			first := i.wrapped.await(t, http.StatusUnauthorized, patience)
			exit, code := i.wrapped.awaitExit(t, tt.after+patience)
			took := checkExit(t, i.wrapped.told(), exit, tt.after)
			if code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			i.checkTold(t, "of "+i.account.subject()+",", "The ServiceAccount was probably deleted", "Delete the Pod.")
			checkRefusedForEver(t, i.stock, exit)
			results.figures(t, map[string]float64{
				"first_401_s": seconds(first.Sub(i.deleted)), "exit_s": seconds(took), "answers_401": float64(i.wrapped.told().count(http.StatusUnauthorized)),
				"stock_answers_401": float64(i.stock.told().count(http.StatusUnauthorized)),
			})
		})
	}
}

// TestTransportExitsImmediately is the same with ExitOptions.Immediate.
func TestTransportExitsImmediately(t *testing.T) {
	realServerTest(t)
	i := newIncident(t, podSpec{Exit: &podExit{Immediate: true}})
	exit, code := i.wrapped.awaitExit(t, patience)
	took := exit.Sub(i.deleted)
	if most := tokenCache + askEvery + slowAsk; code != 1 || took > most {
		t.Errorf("exit code %d %v after the deletion, want 1 within %v", code, took, most)
	}
	// The process may end before it can tell of the 401.
	if told := i.wrapped.told(); told.count(http.StatusUnauthorized) > 1 {
		t.Errorf("it was still asking:\n%v", told)
	}
	i.checkTold(t, "1 answer of 401", "of "+i.account.subject()+",", "Delete the Pod.")
	checkRefusedForEver(t, i.stock, exit.Add(askEvery))
	results.figures(t, map[string]float64{"exit_after_deletion_s": seconds(took)})
}

// incident is a ServiceAccount that was deleted and created again, under a wrapped
// and a stock process.
type incident struct {
	account        *account
	wrapped, stock *podProcess
	terminationLog string
	deleted        time.Time
}

func newIncident(t *testing.T, s podSpec) *incident {
	t.Helper()
	i := &incident{account: newAccount(t, sharedPlane.Get(t), true), terminationLog: filepath.Join(t.TempDir(), "termination-log")}
	cfg, _ := i.account.inCluster(t, i.account.config(t).BearerToken)
	s.Exit.TerminationLog = i.terminationLog
	i.wrapped = startPodProcess(t, cfg, i.account, s)
	s.Exit = nil
	i.stock = startPodProcess(t, cfg, i.account, s)
	for _, p := range []*podProcess{i.wrapped, i.stock} {
		p.await(t, http.StatusOK, patience)
	}
	i.deleted = i.account.recreate(t)
	return i
}

// checkTold fails unless the termination message says all this, and a log line
// says the same.
func (i *incident) checkTold(t *testing.T, want ...string) {
	t.Helper()
	message, err := os.ReadFile(i.terminationLog)
	if err != nil {
		t.Fatalf("no termination message: %v", err)
	}
	checkMessage(t, string(message), want...)
	lines := strings.Join(i.wrapped.logged(), "\n")
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
	poll.Until(t.Context(), shortAfter, p.hasEnded)
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
	a := newAccount(t, sharedPlane.Get(t), true)
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
