// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// wayward is a client whose requests go through something else first.
type wayward struct {
	http.RoundTripper
	through func(*http.Request, http.RoundTripper) (*http.Response, error)
}

func (w wayward) RoundTrip(r *http.Request) (*http.Response, error) {
	return w.through(r, w.RoundTripper)
}

// source is a client of the server in this process that goes through something else.
func (f *fixture) source(through func(*http.Request, http.RoundTripper) (*http.Response, error)) watchcanary.Client {
	f.Helper()
	cfg := f.srv.Config()
	cfg.ContentType = "application/json"
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(client.CloseIdleConnections)
	if through != nil {
		client = &http.Client{Transport: wayward{client.Transport, through}}
	}
	return watchcanary.Client{Config: cfg, HTTP: client}
}

func writesLease(r *http.Request) bool {
	return (r.Method == http.MethodPut || r.Method == http.MethodPost) && strings.Contains(r.URL.Path, "/leases")
}

// A client that does not look at its context, as some that fetch a token first.
func TestWriteThatNeverReturns(t *testing.T) {
	scenario(t, func(f *fixture) {
		var stuck atomic.Bool
		free := make(chan struct{})
		p := f.startWith(watchcanary.Options{}, f.source(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
			if stuck.Load() && writesLease(r) {
				<-free
			}
			return next.RoundTrip(r)
		}))
		f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
		stuck.Store(true)
		f.await(4*time.Minute, "blind", p.is(watchcanary.Blind))
		f.holds(10*time.Minute, "blind", func() bool { return p.is(watchcanary.Blind)() && !p.fails() })
		stuck.Store(false)
		f.await(3*time.Minute, "fresh", p.is(watchcanary.Fresh))
		p.stop()
		close(free)
	})
}

// A note of a restart whose answer was lost is that note, and not another one.
func TestAnswerToTheNoteIsLost(t *testing.T) {
	scenario(t, func(f *fixture) {
		var lost atomic.Int64
		p := f.startWith(watchcanary.Options{}, f.source(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
			resp, err := next.RoundTrip(r)
			if err != nil || !writesLease(r) {
				return resp, err
			}
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			if text, err := io.ReadAll(body); err == nil && strings.Contains(string(text), annotation) && lost.Add(1) <= 3 {
				resp.Body.Close()
				return nil, context.DeadlineExceeded
			}
			return resp, err
		}))
		f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
		f.srv.Stall(leases)
		f.await(20*time.Minute, "liveness fails", p.fails)
		if s := p.Status(); s.Restarts != 1 || s.Exhausted {
			t.Errorf("%+v", s)
		}
	})
}

// Who cannot note a restart, because something on the way takes the note off, asks for
// none.
func TestNoteIsTakenOff(t *testing.T) {
	scenario(t, func(f *fixture) {
		p := f.startWith(watchcanary.Options{}, f.source(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
			if !writesLease(r) {
				return next.RoundTrip(r)
			}
			var lease map[string]any
			if err := json.NewDecoder(r.Body).Decode(&lease); err != nil {
				return nil, err
			}
			delete(lease["metadata"].(map[string]any), "annotations")
			text, err := json.Marshal(lease)
			if err != nil {
				return nil, err
			}
			r = r.Clone(r.Context())
			r.Body, r.ContentLength, r.GetBody = io.NopCloser(bytes.NewReader(text)), int64(len(text)), nil
			return next.RoundTrip(r)
		}))
		f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
		f.srv.Stall(leases)
		f.await(5*time.Minute, "stalled", p.is(watchcanary.Stalled))
		f.holds(time.Hour, "alive", func() bool { return !p.fails() })
		if !strings.Contains(f.told(), "cannot note a restart") {
			t.Errorf("the log does not say so:\n%s", f.told())
		}
	})
}

// After a restore of the datastore the watch waits for a resourceVersion that may never
// come. Nothing that was seen before counts any more, and a restart helps.
func TestRestore(t *testing.T) {
	scenario(t, func(f *fixture) {
		o := watchcanary.Options{}
		p := f.start(o)
		f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
		backup := f.srv.Snapshot()
		f.srv.Bump(100000)
		f.holds(5*time.Minute, "fresh", p.is(watchcanary.Fresh))
		f.srv.Rewind(backup)
		f.await(3*time.Minute, "stalled", p.is(watchcanary.Stalled))
		f.await(10*time.Minute, "liveness fails", p.fails)
		p.stop()
		p = f.start(o)
		f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
		f.srv.Stall(leases)
		f.await(3*time.Minute, "stalled", p.is(watchcanary.Stalled))
	})
}

// Rights that are taken away later, or could not be asked about at first.
func TestRightsThatAreMissedLater(t *testing.T) {
	reviews := "/selfsubjectaccessreviews"
	for name, unanswered := range map[string]bool{"taken away": false, "not answered at first": true} {
		t.Run(name, func(t *testing.T) {
			scenario(t, func(f *fixture) {
				var silent atomic.Bool
				silent.Store(unanswered)
				p := f.startWith(watchcanary.Options{}, f.source(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
					if silent.Load() && strings.HasSuffix(r.URL.Path, reviews) {
						return nil, io.ErrUnexpectedEOF
					}
					return next.RoundTrip(r)
				}))
				f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
				f.srv.Deny(leases, "list", "watch")
				f.srv.EndWatches(leases)
				f.await(10*time.Minute, "blind", p.is(watchcanary.Blind))
				silent.Store(false)
				f.await(5*time.Minute, "named", func() bool { return len(p.Status().Missing) == 2 })
				if s := p.Status(); !strings.Contains(s.Reason, "verbs: [get, list, watch, update]") {
					t.Errorf("%q", s.Reason)
				}
			})
		})
	}
}

// Restarts that do not help are few, however long each takes.
func TestBudgetHoldsHoweverLongRestartsTake(t *testing.T) {
	for _, takes := range []time.Duration{0, 6 * time.Minute} {
		scenario(t, func(f *fixture) {
			o := watchcanary.Options{Interval: 5 * time.Minute, FailAfter: 10 * time.Minute}
			asked := 0
			for p := f.start(o); ; p = f.start(o) {
				f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
				f.srv.Stall(leases)
				f.await(time.Hour, "it fails or has given up", func() bool { return p.fails() || p.Status().Exhausted })
				if p.Status().Exhausted {
					break
				}
				asked++
				p.stop()
				f.holds(takes, "", func() bool { return true })
			}
			if asked != watchcanary.DefaultRestarts {
				t.Errorf("%d restarts", asked)
			}
			f.await(time.Minute, "somebody is told", func() bool { return strings.Contains(f.told(), "asks for no more restarts") })
		})
	}
}

// The monitor's own check has no budget: it leaves the canary's informer to the canary.
func TestBudgetHoldsBesideTheMonitorsCheck(t *testing.T) {
	scenario(t, func(f *fixture) {
		m := f.monitor(freshness.Options{DisabledCures: []freshness.Rung{freshness.Resume, freshness.Relist, freshness.List}})
		p := f.start(watchcanary.Options{Monitor: m})
		f.await(time.Minute, "fresh", p.is(watchcanary.Fresh))
		f.srv.Stall(leases)
		f.await(10*time.Minute, "liveness fails", p.fails)
		f.holds(30*time.Minute, "the monitor's check passes", func() bool { return m.Check(nil) == nil })
		p.stop()
	})
}
