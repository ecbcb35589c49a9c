// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	clocktesting "k8s.io/utils/clock/testing"
)

const testAPI = "https://api.example:6443"

// dawn is when the histories of these tests begin.
var dawn = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// seen is one thing that happens in a history: an answer, or else do.
type seen struct {
	at     time.Duration
	status int    // default 401
	token  string // default "mine"; "-": none
	opened time.Duration
	host   string
	as     string // impersonated user
	do     func(*history)
}

// oldConnection was opened before any history began.
const oldConnection = -time.Hour

// old and fresh are 401s over a connection from before, and over one opened a
// millisecond ago.
func old(at time.Duration) seen   { return seen{at: at, opened: oldConnection} }
func fresh(at time.Duration) seen { return seen{at: at, opened: at - time.Millisecond} }

// ok is a success.
func ok(at time.Duration) seen { return answered(at, http.StatusOK) }

func answered(at time.Duration, status int) seen {
	return seen{at: at, status: status, opened: oldConnection}
}

// every repeats a 401 over ever new connections.
func every(d, from, to time.Duration) (all []seen) {
	for at := from; at <= to; at += d {
		all = append(all, fresh(at))
	}
	return all
}

func as(user string, s seen) seen     { s.as = user; return s }
func with(token string, s seen) seen  { s.token = token; return s }
func onHost(host string, s seen) seen { s.host = host; return s }

func then(all ...any) (flat []seen) {
	for _, a := range all {
		switch a := a.(type) {
		case seen:
			flat = append(flat, a)
		case []seen:
			flat = append(flat, a...)
		}
	}
	return flat
}

func shutDown(at time.Duration) seen {
	return seen{at: at, do: func(h *history) { h.u.shutdown() }}
}

// history plays what is seen against an unauthorized.
type history struct {
	t     *testing.T
	u     *unauthorized
	clock *clocktesting.FakePassiveClock
	file  string
	api   http.RoundTripper // says what the API server itself thinks; default: 401
	exits []time.Duration
}

// newHistory must run in a bubble: exits happen in goroutines of their own.
func newHistory(t *testing.T, cfg *rest.Config, opts *ExitOptions) *history {
	t.Helper()
	h := &history{t: t, clock: clocktesting.NewFakePassiveClock(dawn), file: cfg.BearerTokenFile, api: says(http.StatusUnauthorized)}
	if opts != nil {
		complete := *opts
		complete.TerminationLog = filepath.Join(t.TempDir(), "termination-log")
		complete.Exit = func(int) { h.exits = append(h.exits, h.clock.Since(dawn)) }
		opts = &complete
	}
	u, err := newUnauthorized(cfg, opts, h.clock, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	h.u = u
	return h
}

func (h *history) play(all []seen) {
	h.t.Helper()
	for _, s := range all {
		h.clock.SetTime(dawn.Add(s.at))
		if s.do != nil {
			s.do(h)
			continue
		}
		req := newTestRequest(h.t, cmp.Or(s.host, testAPI)+"/api/v1/pods", cmp.Or(s.token, "mine"))
		if s.as != "" {
			req.Header.Set(transport.ImpersonateUserHeader, s.as)
		}
		h.u.observe(req, cmp.Or(s.status, http.StatusUnauthorized), dawn.Add(s.opened), h.api)
		synctest.Wait()
	}
}

func newTestRequest(t *testing.T, url, token string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "-" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req
}

func TestExit(t *testing.T) {
	const s, never = time.Second, time.Duration(-1)
	mine := &rest.Config{Host: testAPI, BearerToken: "mine"}
	tests := []struct {
		name string
		cfg  *rest.Config // default: mine
		opts ExitOptions
		seen []seen
		want time.Duration // when it exits
		why  string
	}{
		{name: "dead", seen: then(old(0), fresh(45*s), fresh(90*s)), want: 90 * s},
		{name: "dead, many requests", seen: then(old(0), every(s, s, 200*s)), want: 90 * s, why: "once, however many follow"},
		{name: "one nanosecond early", seen: then(old(0), fresh(45*s), fresh(90*s-1)), want: never},
		{name: "one nanosecond early, then due", seen: then(old(0), fresh(45*s), fresh(90*s-1), old(90*s)), want: 90 * s},
		{name: "two answers", seen: then(old(0), fresh(95*s)), want: never, why: "a blip before and a blip after"},
		{name: "five answers asked for", opts: ExitOptions{MinResponses: 5}, seen: every(40*s, 0, 200*s), want: 160 * s},
		{name: "shorter After", opts: ExitOptions{After: 10 * s}, seen: every(s, 0, 60*s), want: 10 * s},
		{name: "immediate", opts: ExitOptions{Immediate: true, MinResponses: 9}, seen: then(old(7 * s)), want: 7 * s},
		{name: "immediate, after successes", opts: ExitOptions{Immediate: true}, seen: then(ok(0), answered(s, 403), answered(2*s, 500), old(3*s)), want: 3 * s},
		{name: "immediate, others", opts: ExitOptions{Immediate: true}, seen: then(with("theirs", old(0)), as("jane", old(s)), onHost("https://other", old(2*s)), with("-", old(3*s))), want: never},

		{name: "one connection", seen: then(old(0), old(45*s), old(90*s), old(600*s)), want: never, why: "one API server behind the load balancer"},
		{name: "one connection, then another", seen: then(old(0), old(45*s), old(90*s), fresh(100*s)), want: 100 * s},
		{name: "opened with the first", seen: then(old(0), seen{at: 45 * s}, seen{at: 90 * s}), want: never, why: "it may lead to where the first led"},
		{name: "opened just after the first", seen: then(old(0), seen{at: 45 * s, opened: 1}, old(90*s)), want: 90 * s},
		{name: "opened before a row that began anew", seen: then(old(0), fresh(40*s), ok(50*s), old(60*s), seen{at: 105 * s, opened: 40 * s}, old(150*s)), want: never},
		{name: "connections unknown", seen: then(old(0), seen{at: 45 * s, opened: -dawn.Sub(time.Time{})}, old(90*s)), want: never},
		{name: "connections unknown for good", cfg: &rest.Config{Host: testAPI, BearerToken: "mine", Transport: http.DefaultTransport}, seen: then(old(0), old(45*s), old(90*s)), want: 90 * s},

		{name: "blip of 30s", seen: then(every(s, 0, 30*s), ok(31*s), old(600*s)), want: never, why: "an authenticator that failed"},
		{name: "blip of 89s", seen: then(every(s, 0, 89*s), ok(90*s), every(s, 91*s, 180*s)), want: never},
		{name: "flapping", seen: then(every(2*s, 0, 80*s), ok(81*s), every(2*s, 82*s, 160*s), ok(161*s), every(2*s, 162*s, 240*s)), want: never},
		{name: "forbidden", seen: then(every(s, 0, 80*s), answered(85*s, 403), every(s, 86*s, 170*s)), want: never, why: "403 comes after authentication"},
		{name: "only forbidden", seen: then(answered(0, 403), answered(45*s, 403), answered(90*s, 403), answered(135*s, 403)), want: never},
		{name: "not found", seen: then(every(s, 0, 80*s), answered(85*s, 404), every(s, 86*s, 170*s)), want: never},
		{name: "too many requests", seen: then(every(s, 0, 80*s), answered(85*s, 429), every(s, 86*s, 170*s)), want: never},
		{name: "errors between", seen: then(every(s, 0, 80*s), answered(81*s, 500), answered(82*s, 503), answered(83*s, 407), fresh(90*s)), want: 90 * s, why: "none of these tells anything"},
		{name: "errors instead", seen: then(old(0), answered(45*s, 503), answered(60*s, 503), answered(90*s, 503), answered(120*s, 407)), want: never},

		{name: "others", seen: then(with("theirs", old(0)), with("theirs", fresh(45*s)), with("theirs", fresh(90*s)), with("theirs", fresh(135*s))), want: never},
		{name: "others' success", seen: then(old(0), fresh(45*s), with("theirs", ok(80*s)), fresh(90*s)), want: 90 * s},
		{name: "anonymous", seen: then(with("-", old(0)), with("-", fresh(45*s)), with("-", fresh(90*s))), want: never},
		{name: "anonymous success", seen: then(old(0), fresh(45*s), with("-", ok(80*s)), fresh(90*s)), want: 90 * s},
		{name: "impersonated", seen: then(as("jane", old(0)), as("jane", fresh(45*s)), as("jane", fresh(90*s))), want: never},
		{name: "impersonated success", seen: then(old(0), fresh(45*s), as("jane", ok(80*s)), fresh(90*s), fresh(130*s)), want: never, why: "our own credential was accepted"},
		{name: "other host", seen: then(onHost("https://other:6443", old(0)), onHost("https://other:6443", fresh(45*s)), onHost("https://other:6443", fresh(90*s))), want: never},
		{name: "other host's success", seen: then(old(0), fresh(45*s), onHost("https://other:6443", ok(80*s)), fresh(90*s)), want: 90 * s},
		{name: "anonymous config", cfg: &rest.Config{Host: testAPI}, seen: then(old(0), fresh(45*s), fresh(90*s), with("-", fresh(100*s))), want: never},

		{name: "shut down", seen: then(old(0), fresh(45*s), shutDown(80*s), fresh(90*s), fresh(200*s)), want: never},
		{name: "shut down, immediate", opts: ExitOptions{Immediate: true}, seen: then(shutDown(0), old(s)), want: never},

		{name: "paused after one", seen: then(old(0), fresh(120*s)), want: never},
		{name: "paused after one, few answers asked for", opts: ExitOptions{MinResponses: 1}, seen: then(old(0), fresh(120*s)), want: never},
		{name: "paused after a burst", seen: then(every(s, 0, 30*s), fresh(150*s)), want: never, why: "30s of evidence, and 120s of nothing"},
		{name: "paused after a burst, accepted then", seen: then(every(s, 0, 30*s), fresh(150*s), ok(151*s), fresh(300*s)), want: never},
		{name: "paused after a burst, refused for long then", seen: then(every(s, 0, 30*s), every(s, 150*s, 300*s)), want: 165 * s, why: "30s, 45s for the pause, 15s"},
		{name: "a request every 5min", seen: every(300*s, 0, 3000*s), want: 600 * s, why: "two silences make up After"},
		{name: "clock set back", seen: then(old(0), fresh(45*s), old(-3600*s), old(-3600*s+45*s)), want: -3600*s + 45*s, why: "time never counts negative"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHistory(t, cmp.Or(tt.cfg, mine), &tt.opts)
				h.play(tt.seen)
				h.wantExit(tt.want, tt.why)
			})
		})
	}
}

func (h *history) wantExit(want time.Duration, why string) {
	h.t.Helper()
	switch {
	case want == -1 && len(h.exits) > 0:
		h.t.Errorf("exited after %v, want never %s", h.exits, why)
	case want != -1 && (len(h.exits) != 1 || h.exits[0] != want):
		h.t.Errorf("exits after %v, want one after %v %s", h.exits, want, why)
	}
	if got := h.u.snapshot().exits; got != uint64(len(h.exits)) {
		h.t.Errorf("counted %d exits, want %d", got, len(h.exits))
	}
}

func TestNeverExitsWithoutOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(t, &rest.Config{Host: testAPI, BearerToken: "mine"}, nil)
		h.play(then(old(0), every(time.Second, time.Second, time.Hour)))
		if got, want := h.u.snapshot(), (unauthorizedStats{counted: 3601, seconds: 3600}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

// The token file holds "mine" at first.
func TestTokenFile(t *testing.T) {
	const s = time.Second
	write := func(at time.Duration, token string) seen {
		return seen{at: at, do: func(h *history) { writeTokenFile(h.t, h.file, token) }}
	}
	remove := func(at time.Duration) seen {
		return seen{at: at, do: func(h *history) {
			if err := os.Remove(h.file); err != nil {
				h.t.Error(err)
			}
		}}
	}
	withAll := func(token string, all []seen) []seen {
		for i := range all {
			all[i].token = token
		}
		return all
	}
	tests := []struct {
		name   string
		static string // BearerToken, as rest.InClusterConfig sets it too
		seen   []seen
		want   time.Duration
		why    string
	}{
		{name: "dead", seen: every(s, 0, 100*s), want: 90 * s},
		{name: "dead, in a cluster", static: "mine", seen: every(s, 0, 100*s), want: 90 * s},
		{name: "renewed a minute late", static: "mine", want: -1, why: "client-go reads the new one within another minute", seen: then(
			every(s, 0, 60*s), write(60*s, "new"), every(s, 61*s, 110*s), with("new", ok(111*s)))},
		{name: "renewed long before, client-go has not looked yet", static: "mine", want: -1, seen: then(
			write(0, "new"), every(s, 0, 200*s))},
		{name: "the new one is refused as well", want: 150 * s, why: "it begins a row of its own", seen: then(
			every(s, 0, 50*s), write(50*s, "new"), withAll("new", every(s, 60*s, 200*s)))},
		{name: "renewed and dead before any 401", want: 90 * s, seen: then(
			write(0, "new"), withAll("new", every(s, 0, 100*s)))},
		{name: "refused and accepted in turns, by two clients", want: -1, seen: then(
			write(0, "new"), every(s, 0, 80*s), with("new", ok(80*s)), every(s, 81*s, 170*s))},
		{name: "old success while the new one is refused", want: 100 * s, seen: then(
			write(0, "new"), withAll("new", every(s, 10*s, 80*s)), ok(85*s), withAll("new", every(s, 86*s, 110*s)))},
		{name: "file gone", want: 90 * s, why: "client-go keeps what it has read", seen: then(
			every(s, 0, 50*s), remove(50*s), every(s, 51*s, 100*s))},
		{name: "file gone from the start", static: "mine", want: 90 * s, seen: then(
			remove(0), every(s, 0, 100*s))},
		{name: "file gone from the start, no other token", want: -1, seen: then(
			remove(0), every(s, 0, 100*s), withAll("-", every(s, 101*s, 200*s)))},
		{name: "file empty", static: "mine", want: 90 * s, seen: then(
			write(0, " \n"), every(s, 0, 100*s))},
		{name: "others", want: -1, seen: withAll("theirs", every(s, 0, 200*s))},
		{name: "white space", want: 90 * s, seen: then(
			write(0, "\n mine \n"), every(s, 0, 100*s))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "token")
				writeTokenFile(t, file, "mine")
				h := newHistory(t, &rest.Config{Host: testAPI, BearerToken: tt.static, BearerTokenFile: file}, &ExitOptions{})
				h.play(tt.seen)
				h.wantExit(tt.want, tt.why)
			})
		})
	}
}

func writeTokenFile(t *testing.T, file, token string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
}

// An exec plugin is asked for another token after each 401.
func TestManyTokensOfOneSourceAreOneRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(t, execConfig("sh"), &ExitOptions{})
		for i, s := range every(10*time.Second, 0, 100*time.Second) {
			h.play(then(with(string(rune('a'+i)), s)))
		}
		h.wantExit(90*time.Second, "")
	})
}

func TestIsSuccess(t *testing.T) {
	for status, want := range map[int]bool{
		0: false, 101: true, 200: true, 302: true, 400: true, 401: false, 403: true, 404: true, 407: false, 410: true, 429: true, 499: true, 500: false, 503: false, 504: false,
	} {
		if got := isSuccess(status); got != want {
			t.Errorf("isSuccess(%d) = %v, want %v", status, got, want)
		}
	}
}

func TestStats(t *testing.T) {
	const s = time.Second
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(t, &rest.Config{Host: testAPI, BearerToken: "mine"}, &ExitOptions{})
		for _, step := range []struct {
			seen     []seen
			want     unauthorizedStats
			suspects bool
		}{
			{nil, unauthorizedStats{}, false},
			{then(ok(0), answered(s, 403), answered(2*s, 500), with("theirs", ok(3*s))), unauthorizedStats{}, false},
			{then(with("theirs", old(4*s)), as("jane", old(4*s)), with("-", old(4*s)), onHost("https://a", old(4*s))), unauthorizedStats{ignored: 4}, false},
			{then(old(10 * s)), unauthorizedStats{ignored: 4, counted: 1}, true},
			{then(old(12*s), with("theirs", old(13*s))), unauthorizedStats{ignored: 5, counted: 2, seconds: 3}, true},
			{then(ok(14 * s)), unauthorizedStats{ignored: 5, counted: 2}, false},
			{then(every(10*s, 20*s, 120*s)), unauthorizedStats{ignored: 5, counted: 13, exits: 1, seconds: 100}, true},
			{then(shutDown(130 * s)), unauthorizedStats{ignored: 5, counted: 13, exits: 1}, false},
			{then(old(140 * s)), unauthorizedStats{ignored: 6, counted: 13, exits: 1}, false},
		} {
			h.play(step.seen)
			if got := h.u.snapshot(); got != step.want {
				t.Errorf("at %v: got %+v, want %+v", h.clock.Since(dawn), got, step.want)
			}
			if got := h.u.suspects(); got != step.suspects {
				t.Errorf("at %v: suspects = %v, want %v", h.clock.Since(dawn), got, step.suspects)
			}
		}
	})
}

func TestWantsFresh(t *testing.T) {
	const ms = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(t, &rest.Config{Host: testAPI, BearerToken: "mine"}, nil)
		for _, step := range []struct {
			at   time.Duration
			seen []seen
			want bool
			why  string
		}{
			{0, nil, false, "all is well"},
			{0, then(with("theirs", old(0))), false, "not ours"},
			{0, then(old(0)), true, "our first"},
			{250*ms - 1, nil, false, "a new connection is on its way"},
			{250 * ms, nil, true, "it seems not to have come"},
			{600 * ms, then(old(600 * ms)), true, "the old one again"},
			{900*ms - 1, then(fresh(900*ms - 1)), false, "a new one has been refused"},
			{900 * ms, nil, true, "but the one after it may lead to another API server"},
			{1350*ms - 1, nil, false, "with ever longer pauses: half of the row"},
			{1350 * ms, nil, true, "after which another is asked for"},
			{60000 * ms, nil, true, "late, where there are few requests"},
			{90000*ms - 1, nil, false, "and then the row has to grow by half again"},
			{90000 * ms, nil, true, "which it has"},
			{90001 * ms, then(ok(90001 * ms)), false, "all is well again"},
			{90001 * ms, then(old(90001 * ms)), true, "another row wants another connection"},
			{90002 * ms, then(ok(90002*ms), old(90002*ms)), true, "and does not wait for what the last one asked for"},
		} {
			h.clock.SetTime(dawn.Add(step.at))
			h.play(step.seen)
			if got := h.u.wantsFresh(); got != step.want {
				t.Errorf("at %v: wantsFresh = %v, want %v: %s", step.at, got, step.want, step.why)
			}
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(t, &rest.Config{Host: testAPI, BearerToken: "mine"}, &ExitOptions{MinResponses: 50})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 500 {
					h.clock.SetTime(h.clock.Now().Add(time.Second))
					h.u.wantsFresh()
					h.u.observe(newTestRequest(t, testAPI, "mine"), http.StatusUnauthorized, h.clock.Now(), h.api)
					h.u.observe(newTestRequest(t, testAPI, "theirs"), http.StatusOK, time.Time{}, h.api)
					h.u.snapshot()
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if len(h.exits) != 1 {
			t.Errorf("%d exits, want one", len(h.exits))
		}
		if got := h.u.snapshot().counted; got != 4000 {
			t.Errorf("counted %d, want 4000", got)
		}
	})
}

// What every request pays: no allocation, so no look at header or file either.
func TestHealthyPathIsFree(t *testing.T) {
	u, err := newUnauthorized(&rest.Config{Host: testAPI, BearerTokenFile: filepath.Join(t.TempDir(), "none")}, &ExitOptions{}, clocktesting.NewFakePassiveClock(dawn), logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	req := newTestRequest(t, testAPI, "mine")
	got := testing.AllocsPerRun(100, func() {
		if u.wantsFresh() || u.suspects() {
			t.Error("suspects a working credential")
		}
		u.observe(req, http.StatusOK, time.Time{}, nil)
		u.observe(req, http.StatusForbidden, time.Time{}, nil)
		u.observe(req, http.StatusInternalServerError, time.Time{}, nil)
	})
	if got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}

func BenchmarkUnauthorizedHealthy(b *testing.B) {
	u, err := newUnauthorized(&rest.Config{Host: testAPI, BearerToken: "mine"}, &ExitOptions{}, clocktesting.NewFakePassiveClock(dawn), logr.Discard())
	if err != nil {
		b.Fatal(err)
	}
	req := &http.Request{}
	for b.Loop() {
		if u.wantsFresh() {
			b.Fatal("suspects a working credential")
		}
		u.observe(req, http.StatusOK, time.Time{}, nil)
	}
}

func TestNewUnauthorizedRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		host string
		opts ExitOptions
		want string
	}{
		{"host", "a b/c", ExitOptions{}, `transport: config.Host is not usable: parse "http://a b/c": invalid character " " in host name`},
		{"After negative", testAPI, ExitOptions{After: -1}, "transport: ExitOptions.After is -1ns, but must be at least 10s (401s can be the fault of one API server that restarts; Immediate exits on the first)"},
		{"After too short", testAPI, ExitOptions{After: 10*time.Second - 1}, "transport: ExitOptions.After is 9.999999999s, but must be at least 10s (401s can be the fault of one API server that restarts; Immediate exits on the first)"},
		{"After shortest", testAPI, ExitOptions{After: 10 * time.Second}, ""},
		{"MinResponses", testAPI, ExitOptions{MinResponses: -1}, "transport: ExitOptions.MinResponses is -1, but must be at least 1"},
		{"MinResponses least", testAPI, ExitOptions{MinResponses: 1}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := newUnauthorized(&rest.Config{Host: tt.host}, &tt.opts, clocktesting.NewFakePassiveClock(dawn), logr.Discard())
			if got := errorText(err); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
