// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// redialEvery keeps a burst of requests from opening a connection each while the
// answer over a new one is awaited.
const redialEvery = 250 * time.Millisecond

// unauthorized counts 401s to a config's own credential and, if it is told to,
// ends the process when that is dead. All methods are safe for concurrent use.
type unauthorized struct {
	clock     clock.PassiveClock
	exit      *exitProcedure // nil: never
	suspected atomic.Int32   // 1 while there is a row of 401s

	mu               sync.Mutex
	connectionsKnown bool // when they were opened
	credential       *credential
	row              refusals
	redialed         time.Time // when wantsFresh last said yes
	asked            time.Time // when the API server was last asked to confirm
	stopping         bool
	stats            unauthorizedStats
}

// unauthorizedStats is what an unauthorized has seen.
type unauthorizedStats struct {
	counted uint64  // 401s to our own credential
	ignored uint64  // other 401s
	exits   uint64  // 1, where the exit returned
	seconds float64 // since the first 401 of the current row; 0: there is none
}

// newUnauthorized fails if cfg.Host or an option is not usable. With opts nil it
// never ends the process. It must see cfg before this package changes it.
func newUnauthorized(cfg *rest.Config, opts *ExitOptions, clk clock.PassiveClock, log logr.Logger) (*unauthorized, error) {
	cred, err := newCredential(cfg)
	if err != nil {
		return nil, err
	}
	// A Transport of the user's own dials for itself.
	u := &unauthorized{clock: clk, credential: cred, connectionsKnown: cfg.Transport == nil}
	if opts != nil {
		complete, err := opts.withDefaults()
		if err != nil {
			return nil, err
		}
		u.exit = &exitProcedure{opts: complete, log: log}
	}
	return u, nil
}

// forgetConnections is for clients whose connections are not known: no 401 can be
// told to have come over a new one, and none is asked for.
func (u *unauthorized) forgetConnections() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.connectionsKnown = false
}

// suspects tells whether the last answer to our own credential was a 401.
func (u *unauthorized) suspects() bool { return u.suspected.Load() != 0 }

// wantsFresh tells whether the connection of the next request should not be used
// again, so that the one after it opens another, which may lead to another API
// server. While there are 401s it says so at once, and again whenever their row
// has grown by half since: 15 times in 90 s, and 8 more in the next half hour.
func (u *unauthorized) wantsFresh() bool {
	if !u.suspects() {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.clock.Now()
	pause := max(redialEvery, u.redialed.Sub(u.row.first)/2)
	if u.row.responses == 0 || now.Sub(u.redialed) < pause {
		return false
	}
	u.redialed = now
	return true
}

// observe takes the status of an answer, and when the connection that brought it
// was opened, by the same clock (zero: unknown, which counts as long ago). It
// never blocks on the exit that it may lead to. next is what sent the request.
func (u *unauthorized) observe(req *http.Request, status int, opened time.Time, next http.RoundTripper) {
	switch {
	case status == http.StatusUnauthorized:
		u.refuse(req, opened, next)
	case u.suspects() && isSuccess(status):
		u.accept(req)
	}
}

// isSuccess tells whether a status can only come after authentication, at least
// as far as anybody can tell.
func isSuccess(status int) bool {
	return status > 0 && status < http.StatusInternalServerError &&
		status != http.StatusUnauthorized && status != http.StatusProxyAuthRequired
}

// refuse takes a 401.
func (u *unauthorized) refuse(req *http.Request, opened time.Time, next http.RoundTripper) {
	u.mu.Lock()
	defer u.mu.Unlock()
	whose, token := u.credential.judge(req)
	if whose != ours || u.stopping {
		u.stats.ignored++
		return
	}
	u.stats.counted++
	u.suspected.Store(1)
	now := u.clock.Now()
	if u.exit == nil {
		u.row.add(now, opened, token, 0)
		return
	}
	o := u.exit.opts
	u.row.add(now, opened, token, o.longestSilence())
	switch {
	case u.stats.exits > 0 || !u.row.proveDead(o, u.connectionsKnown):
	case o.Immediate:
		u.stats.exits = 1
		go u.exit.run(u.credential.causeOf(&u.row, req.Header.Get("Authorization")))
	case now.Sub(u.asked) >= confirmTimeout:
		u.asked = now
		go u.confirm(u.credential.confirmationOf(req, next), u.row)
	}
}

// confirm asks the API server itself, and ends the process or the row of 401s by
// what it says. Without an answer the row stands, for a later 401 to ask again.
func (u *unauthorized) confirm(c confirmation, row refusals) {
	status, err := c.ask()
	switch {
	case err == nil && status == http.StatusUnauthorized:
		if cause, ok := u.condemn(row, c.request.Header.Get("Authorization")); ok {
			u.exit.run(cause)
		}
	case err == nil && isSuccess(status):
		u.acquit(row)
		u.exit.log.Info("No exit: there are 401s, but the API server itself accepts the credential. Something behind it does not",
			"since", row.first.UTC().Format(time.RFC3339), "responses", row.responses)
	default:
		u.exit.log.Info("No exit yet: there are 401s, but the API server cannot be asked whether they are its own",
			"since", row.first.UTC().Format(time.RFC3339), "responses", row.responses, "status", status, "err", err)
	}
}

// condemn tells whether the process is to end after the API server has confirmed
// a row of 401s: unless that has ended meanwhile, or the process is about to end.
func (u *unauthorized) condemn(row refusals, authorization string) (Unauthorized, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.stats.exits > 0 || !u.row.continues(row) {
		return Unauthorized{}, false
	}
	u.stats.exits = 1
	return u.credential.causeOf(&u.row, authorization), true
}

// acquit ends a row of 401s that did not come from the API server.
func (u *unauthorized) acquit(row refusals) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.row.continues(row) {
		u.forget()
	}
}

// accept takes a success. An impersonated one proves our own credential too: the
// API server authenticates before it impersonates.
func (u *unauthorized) accept(req *http.Request) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if whose, _ := u.credential.judge(req); whose == ours || whose == impersonated {
		u.forget()
	}
}

// forget ends the row. The caller holds the lock.
func (u *unauthorized) forget() {
	u.row, u.redialed = refusals{}, time.Time{}
	u.suspected.Store(0)
}

// shutdown makes no 401 count from now on. An exit that has begun goes on.
func (u *unauthorized) shutdown() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.stopping = true
	u.forget()
}

func (u *unauthorized) snapshot() unauthorizedStats {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.stats
	if u.row.responses > 0 {
		s.seconds = u.clock.Since(u.row.first).Seconds()
	}
	return s
}
