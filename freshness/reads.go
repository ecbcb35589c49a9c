// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// result is the answer to a read, or of an audit.
type result struct {
	informer *tracked
	kind     actionKind
	answer   answer
	audit    auditResult
	servers  []ServerCache
}

// errReadTimeout ends a read that takes too long.
var errReadTimeout = errors.New("no answer in time")

// do starts what a state asked for. The caller holds the lock.
func (m *Monitor) do(ctx context.Context, t *tracked, a action) {
	if a.kind == actCure {
		m.cure(t, a)
		return
	}
	readCtx, cancel := context.WithCancelCause(ctx)
	t.reads[a.kind] = pendingRead{cancel: cancel}
	m.reads.Go(func() {
		defer cancel(nil)
		r := result{informer: t, kind: a.kind}
		switch a.kind {
		case actAudit:
			r.audit = m.audit(readCtx, t)
		case actServers:
			m.began(t, a.kind)
			r.servers = m.askServers(readCtx, t)
		default:
			r.answer = m.ask(readCtx, t, a)
		}
		select {
		case m.results <- r:
		case <-ctx.Done():
		}
	})
}

// cure starts a cure. The caller holds the lock.
func (m *Monitor) cure(t *tracked, a action) {
	switch {
	case a.exact:
		t.lw.refill()
	case a.length > 0:
		t.lw.renew(a.length)
	default:
		t.lw.cure(a.rung)
	}
	switch {
	case a.move:
		m.reconnect(moveGap - tick)
	case a.rung == Reconnect:
		m.reconnect(reconnectGap)
	}
}

// askServers asks each API server where its watch cache stands. Where they are not
// known, all it returns is why.
func (m *Monitor) askServers(ctx context.Context, t *tracked) []ServerCache {
	name := t.name()
	known, err := m.opts.Servers.WatchCaches(ctx, schema.GroupVersionResource{Group: name.Group, Version: name.Version, Resource: name.Resource}, name.Namespace)
	if err != nil {
		return []ServerCache{{Server: "the API servers one by one", Err: err}}
	}
	return known
}

// ask performs a read. It returns when ctx ends, even where the client does not.
func (m *Monitor) ask(ctx context.Context, t *tracked, a action) answer {
	var ans answer
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
		m.began(t, a.kind)
		ans = m.read(ctx, t, a)
	case <-ctx.Done():
		ans.sent, ans.err = m.clock.Now(), context.Cause(ctx)
	}
	if ans.err != nil && context.Cause(ctx) != nil {
		ans.err = context.Cause(ctx)
	}
	ans.state, ans.received = classify(ans.err), m.clock.Now()
	return ans
}

// began notes that a read has its turn: the time in which it waited for that does
// not count towards ReadTimeout.
func (m *Monitor) began(t *tracked, kind actionKind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t.reads[kind].since = m.clock.Now()
}

func (m *Monitor) read(ctx context.Context, t *tracked, a action) answer {
	ans := answer{stored: t.stored(t.informer.LastSyncResourceVersion()), sent: m.clock.Now()}
	read := t.lw.readVersion
	if a.kind == actProbe {
		read = t.lw.probe
	}
	done, got := make(chan answer, 1), ans
	go func() { // old clients do not look at the context: left behind until they return
		got.rv, got.conn, got.err = read(ctx)
		done <- got
	}()
	select {
	case got := <-done:
		return got
	case <-ctx.Done():
		ans.err = context.Cause(ctx)
		return ans
	}
}
