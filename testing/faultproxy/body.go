// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// errReset ends a response so that the client sees a reset stream (HTTP/2) or a broken connection (HTTP/1.1).
var errReset = errors.New("response reset by a fault")

// pieceQueue is how many events or chunks may wait between the API server and the client, for instance while they are
// delayed. A client that does not read stops the upstream stream after that, and only that stream.
const pieceQueue = 64

// body is a response body on its way to the client, with the faults in force. A goroutine of its own reads the upstream, so
// that what is withheld is still taken off the connection, and no other stream waits for it.
type body struct {
	ctx     context.Context
	cancel  context.CancelFunc
	ex      *exchange
	resp    *http.Response
	stream  bool // of watch events
	framing framing
	items   itemCounter
	pieces  chan piece
	done    chan struct{}
	closing sync.Once

	// The rest belongs to the reader of the body.
	held  *piece // received, not yet due
	out   []byte // due, not yet read
	pace  pacer
	ended error // how the upstream ended
	err   error // how the body ends once out is empty
	abort bool  // break the connection instead
}

func newBody(ctx context.Context, cancel context.CancelFunc, ex *exchange, resp *http.Response) *body {
	b := &body{
		ctx: ctx, cancel: cancel, ex: ex, resp: resp, stream: ex.streaming(resp), framing: framingOf(ex, resp),
		pieces: make(chan piece, pieceQueue), done: make(chan struct{}),
	}
	if ex.verb == verbList && resp.StatusCode == http.StatusOK {
		b.items = itemsIn(resp.Header.Get("Content-Type"))
	}
	ex.conn.proxy.wg.Go(b.receive)
	return b
}

// receive takes pieces off the upstream until it ends or the body is closed.
func (b *body) receive() {
	r := bufio.NewReaderSize(b.resp.Body, 32<<10)
	for {
		pc := piece{framing: b.framing}
		pc.raw, pc.err = b.framing.next(r)
		pc.at = time.Now()
		if len(pc.raw) > 0 {
			pc.kind = b.framing.kind(pc.raw)
		}
		select {
		case b.pieces <- pc:
		case <-b.done:
			return
		}
		if pc.err != nil {
			return
		}
	}
}

// Close ends the upstream stream. It is cancelled first, because net/http would otherwise wait for the end of what the
// client sends.
func (b *body) Close() error {
	b.closing.Do(func() { close(b.done) })
	b.cancel()
	return b.resp.Body.Close()
}

// plan returns what the faults in force want. Those for streams leave the answer to a watch that failed alone.
func (b *body) plan() plan {
	pl := b.ex.plan()
	if !b.stream {
		pl = plan{changed: pl.changed, rate: pl.rate, truncate: pl.truncate}
	}
	return pl
}

// Read delivers what the faults let through.
func (b *body) Read(p []byte) (int, error) {
	for {
		pl := b.plan()
		switch {
		case len(b.out) > 0 && pl.silent:
			b.out = nil
		case len(b.out) > 0:
			n, ready := b.throttle(min(len(p), len(b.out)), pl)
			if !ready {
				continue
			}
			n = copy(p, b.out[:n])
			b.out = b.out[n:]
			b.ex.countDown(n)
			return n, nil
		case b.err != nil:
			if b.abort {
				b.breakConnection()
			}
			return 0, b.err
		default:
			b.step(pl)
		}
	}
}

// throttle returns how much may be delivered, after waiting for its time. It reports false when the plan has changed.
func (b *body) throttle(n int, pl plan) (int, bool) {
	if pl.rate == 0 {
		return n, true
	}
	b.pace.rate = pl.rate
	n = min(n, b.pace.slice())
	select {
	case <-time.After(b.pace.reserve(n, time.Now())):
		return n, true
	case <-pl.changed:
		return 0, false
	case <-b.ctx.Done():
		b.out, b.err = nil, context.Cause(b.ctx)
		return 0, false
	}
}

// step waits for one thing to happen: a piece, its time, an end, a change of the plan.
func (b *body) step(pl plan) {
	now := time.Now()
	switch {
	case pl.cut != nil && !now.Before(pl.cutAt):
		b.ex.struck(pl.cut)
		b.err = pl.cut.fault.(CutStreamEvery).end()
		return
	case pl.fail != nil && !pl.silent:
		b.failWith(pl.fail)
		return
	case b.held != nil && !now.Before(b.held.at.Add(pl.delay)):
		b.deliver(pl)
		return
	}
	in := b.pieces
	if b.held != nil || b.ended != nil {
		in = nil
	}
	if b.held == nil && b.ended != nil && !pl.silent && pl.holdOpen == nil {
		b.err = b.ended
		return
	}
	timer := b.wake(pl, now)
	defer timer.Stop()
	select {
	case <-b.ctx.Done():
		b.err = context.Cause(b.ctx)
	case <-pl.changed:
	case <-timer.C:
	case pc := <-in:
		b.take(pc, pl)
	}
}

// wake returns a timer for the next thing that happens by itself.
func (b *body) wake(pl plan, now time.Time) *time.Timer {
	const never = time.Hour // nothing is due; looking again once an hour does no harm
	d := never
	if pl.cut != nil {
		d = min(d, pl.cutAt.Sub(now))
	}
	if b.held != nil {
		d = min(d, b.held.at.Add(pl.delay).Sub(now))
	}
	return time.NewTimer(d)
}

func (b *body) take(pc piece, pl plan) {
	if len(pc.raw) > 0 {
		b.held = &pc
	}
	if pc.err != nil {
		b.ended = pc.err
		if pl.holdOpen != nil && !pl.silent {
			b.ex.struck(pl.holdOpen)
		}
	}
}

// deliver hands the held piece on, or drops it.
func (b *body) deliver(pl plan) {
	pc := b.held
	b.held = nil
	if pl.silent {
		return
	}
	for _, r := range pl.filters {
		if r.fault.(eventFault).drops(r, b.ex, pc) {
			b.ex.struck(r)
			return
		}
	}
	b.out = pc.raw
	if pl.truncate != nil {
		b.cutShort(pl.truncate)
		return
	}
	if b.items != nil {
		b.ex.countObjects(b.items.count(pc.raw))
	}
	if pc.kind != "" {
		b.ex.countEvent(pc)
	}
}

// first blocks until the body has something to deliver or has ended.
func (b *body) first() {
	for len(b.out) == 0 && b.err == nil {
		b.step(b.plan())
	}
}
