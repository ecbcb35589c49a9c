// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/freshwatch/freshwatch/freshness"
)

// someServers stands for the API servers behind one address.
type someServers struct {
	answers []freshness.ServerCache
	err     error
}

func (s someServers) WatchCaches(context.Context, schema.GroupVersionResource, string) ([]freshness.ServerCache, error) {
	return s.answers, s.err
}

func TestFrozenServerIsLeft(t *testing.T) {
	frozen := freshness.ServerCache{Server: "10.0.0.1:6443", ResourceVersion: "101"}
	tests := []struct {
		name     string
		servers  freshness.Servers
		recycles int32 // at which another server is reached; 0: never
		want     int32 // recycles within 10 min
		reason   string
	}{
		{"to one that is up to date", someServers{answers: []freshness.ServerCache{frozen, {Server: "10.0.0.2:6443", ResourceVersion: "100000"}}}, 1, 1, ""},
		{"which is reached at the third attempt", someServers{answers: []freshness.ServerCache{frozen, {Server: "10.0.0.2:6443", ResourceVersion: "100000"}}}, 3, 3, ""},
		{"all are frozen", someServers{answers: []freshness.ServerCache{frozen}}, 0, 0, "frozen: 10.0.0.1:6443 (at 101)"},
		{"nobody knows of others", nil, 0, 1, "restarting this process does not help"},
		{"one does not answer", someServers{answers: []freshness.ServerCache{frozen, {Server: "10.0.0.2:6443", Err: errors.New("boom")}}}, 0, 0, "no answer from 10.0.0.2:6443: boom"},
		{"they are not known", someServers{err: errors.New("no EndpointSlices")}, 0, 1, "restarting this process does not help"},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			c := &moves{}
			f := newFixture(t, freshness.Options{Connections: c, Servers: tt.servers})
			f.fill()
			f.warm()
			freeze := f.srv.FreezeWatchCache(widgets)
			c.arrive = func(n int32) {
				if n == tt.recycles {
					freeze.Lift()
				}
			}
			_ = f.srv.Update(widget("a", "blue"))
			f.sleepUntil(3*time.Minute, "named", f.is(freshness.ControlPlaneStalled))
			time.Sleep(8 * time.Minute)
			st := f.status()
			if c.count() != tt.want {
				t.Errorf("%s: connections were recycled %d times, want %d; events:\n%s", tt.name, c.count(), tt.want, f.log())
			}
			if healed := tt.recycles > 0; healed != (st.Verdict == freshness.Fresh) || healed != f.sees(f.guarded, "a", "blue")() {
				t.Errorf("%s: %v; events:\n%s", tt.name, st.Verdict, f.log())
			}
			if tt.recycles == 0 && (st.Verdict != freshness.ControlPlaneStalled || !strings.Contains(st.Reason, tt.reason)) {
				t.Errorf("%s: %v, %q; want %q", tt.name, st.Verdict, st.Reason, tt.reason)
			}
			if slices.Contains(f.verdicts(), freshness.Stalled) {
				t.Errorf("%s: stalled; events:\n%s", tt.name, f.log())
			}
			if err := f.monitor.Check(nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// moves counts new connections.
type moves struct {
	mu     sync.Mutex
	n      int32
	arrive func(n int32)
}

func (m *moves) Recycle() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n++
	m.arrive(m.n)
	return 1
}

func (m *moves) count() int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.n
}
