// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// The API server returns, and takes writes while the informer still waits, as client-go
// does for up to a minute, before it asks for a watch again. An acknowledgement alone is
// no proof: nothing is called Fresh before a write has come back.
func TestFreshAfterAnAbsenceIsSeen(t *testing.T) {
	for range 10 { // the informer waits for a random time
		synctest.Test(t, returnsAfterAMinute)
	}
}

func returnsAfterAMinute(t *testing.T) {
	srv := freshtest.Start(t, freshtest.Options{})
	c := newCanary(t, srv)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := c.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	defer func() { cancel(); wg.Wait() }()
	time.Sleep(10 * time.Second)
	gone := srv.Refuse()
	srv.DropConnections()
	time.Sleep(time.Minute)
	if st := c.Status(); st.State != watchcanary.Blind {
		t.Errorf("%+v without an API server", st)
	}
	gone.Lift()
	last := watchcanary.Blind
	for begin := time.Now(); time.Since(begin) < 2*time.Minute; time.Sleep(100 * time.Millisecond) {
		st := c.Status()
		if last != watchcanary.Fresh && st.State == watchcanary.Fresh && st.Unseen > 0 {
			t.Errorf("Fresh %v after the return, when no write since has come back: the oldest is unseen for %v", time.Since(begin), st.Unseen)
		}
		if last == watchcanary.Fresh && st.State != watchcanary.Fresh {
			t.Errorf("%v again %v after the return: %s", st.State, time.Since(begin), st.Reason)
		}
		if err := c.Check(nil); err != nil {
			t.Errorf("liveness fails %v after the return: %v", time.Since(begin), err)
		}
		last = st.State
	}
	if last != watchcanary.Fresh {
		t.Errorf("%+v two minutes after the return", c.Status())
	}
}

// newCanary returns a canary of a program that talks to a server in this process.
func newCanary(t *testing.T, srv *freshtest.Server) *watchcanary.Canary {
	t.Helper()
	cfg := srv.Config()
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	c, err := watchcanary.New(watchcanary.Client{Config: cfg, HTTP: client},
		watchcanary.Options{Namespace: "operators", Interval: interval, FailAfter: failAfter})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
