// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"context"
	"io"
	"time"
)

// DefaultStreamAge is after how long CutStreamEvery ends a stream unless told otherwise: the route timeout that proxies
// have been left with by accident.
const DefaultStreamAge = 20 * time.Second

// Delay makes responses come late: the request is passed on only after D, and each event of a watch stream arrives D after
// it was sent. Up to 64 events of a stream are under way at once. Hits counts requests.
type Delay struct {
	// D is the delay; 0 or less is none.
	D time.Duration
}

func (Delay) appliesTo(*attributes) bool { return true }

func (f Delay) onRequest(ctx context.Context, ex *exchange, r *rule) error {
	ex.struck(r)
	if !sleepUntil(ctx, time.Now().Add(f.D)) {
		return context.Cause(ctx)
	}
	return nil
}

func (f Delay) plan(p *plan, ex *exchange, _ *rule) {
	if ex.verb == verbWatch {
		p.delay += max(0, f.D)
	}
}

// Trickle delivers each body at so many bytes per second, in twenty portions a second at most. Hits counts bodies.
type Trickle struct {
	// BytesPerSecond defaults to 1.
	BytesPerSecond int64
}

func (Trickle) appliesTo(*attributes) bool { return true }

func (Trickle) onAttach(ex *exchange, r *rule, _ bool) { ex.struck(r) }

func (f Trickle) plan(p *plan, _ *exchange, _ *rule) { p.slower(max(1, f.BytesPerSecond)) }

// CutStreamEvery ends watch streams when they reach an age, as a route timeout does: all streams have the same life. It
// goes by the age, so that streams older than that are cut at the injection. Hits counts streams.
type CutStreamEvery struct {
	// Age of the streams when they end. Defaults to DefaultStreamAge.
	Age time.Duration
	// Reset ends them with an RST_STREAM (HTTP/1.1: in the middle of the body) rather than with a proper end.
	Reset bool
}

func (CutStreamEvery) appliesTo(a *attributes) bool { return a.verb == verbWatch }

func (f CutStreamEvery) plan(p *plan, ex *exchange, r *rule) {
	age := f.Age
	if age <= 0 {
		age = DefaultStreamAge
	}
	p.cutNoLaterThan(ex.start.Add(age), r)
}

func (f CutStreamEvery) end() error {
	if f.Reset {
		return errReset
	}
	return io.EOF
}

// Truncate ends responses in the middle: a watch stream inside of its next event, another body inside of its next chunk.
// Hits counts responses.
type Truncate struct {
	// AfterBytes of that event or chunk are delivered. Defaults to half of them.
	AfterBytes int
	// Reset ends the response with an RST_STREAM (HTTP/1.1: without its last chunk) rather than with a proper end.
	Reset bool
	// Connection breaks the whole connection with an RST, and all streams on it.
	Connection bool
}

func (Truncate) appliesTo(*attributes) bool { return true }

func (Truncate) plan(p *plan, _ *exchange, r *rule) { p.truncate = r }

// GoAway tells clients to open a new connection, as kube-apiserver does with --goaway-chance: HTTP/2 GOAWAY, after which
// the streams on the old connection go on. With HTTP/1.1 the connection is closed after the response. Hits counts
// connections.
type GoAway struct {
	// Every n-th request has it sent on its connection, and nothing happens at the injection. By default it is sent at once
	// where a matching request is under way, and after each new one.
	Every int
}

func (GoAway) appliesTo(*attributes) bool { return true }

func (f GoAway) onAttach(ex *exchange, r *rule, open bool) {
	if open && f.Every > 1 {
		return
	}
	r.requests++
	if f.Every > 1 && r.requests%f.Every != 0 {
		return
	}
	if ex.conn.sendGoAway() {
		ex.struck(r)
	}
}
