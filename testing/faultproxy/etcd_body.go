// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// watchBody is the response of a Watch call on its way to the API server. Messages are taken off etcd's connection as they
// come, whatever becomes of them, so that no other stream waits for what is withheld on this one.
type watchBody struct {
	ctx      context.Context
	cancel   context.CancelFunc
	stream   *watchStream
	upstream *http.Response
	client   *http.Response
	messages chan received
	done     chan struct{}
	closing  sync.Once

	// The rest belongs to the reader of the body.
	held  []delivery // until their fault is lifted, in order
	queue []delivery // by due time
	out   []byte
	over  bool // etcd has ended the call
	err   error
}

type received struct {
	raw []byte
	err error
}

func newWatchBody(ctx context.Context, cancel context.CancelFunc, s *watchStream, resp *http.Response) *watchBody {
	client := *resp
	b := &watchBody{
		ctx: ctx, cancel: cancel, stream: s, upstream: resp, client: &client,
		messages: make(chan received), done: make(chan struct{}),
	}
	client.Body = b
	client.Trailer = http.Header{}
	s.proxy.wg.Go(b.receive)
	return b
}

func (b *watchBody) response() *http.Response { return b.client }

func (b *watchBody) receive() {
	r := bufio.NewReader(b.upstream.Body)
	for {
		raw, err := readMessage(r)
		select {
		case b.messages <- received{raw, err}:
		case <-b.done:
			return
		}
		if err != nil {
			return
		}
	}
}

// Close ends the call towards etcd. It is cancelled first, because net/http would otherwise wait for the end of what the
// client sends, which has none.
func (b *watchBody) Close() error {
	b.closing.Do(func() { close(b.done) })
	b.cancel()
	return b.upstream.Body.Close()
}

// Read delivers what the faults let through.
func (b *watchBody) Read(p []byte) (int, error) {
	for len(b.out) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.step()
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// step waits for one thing to happen: a message, its time, a lift, an end.
func (b *watchBody) step() {
	changed := b.stream.changed.next()
	b.release()
	if b.stream.dead() {
		b.queue, b.held = nil, nil
		b.end(http.Header{"Grpc-Status": {unavailable}, "Grpc-Message": {"faultproxy: watches thawed"}})
		return
	}
	messages := b.messages
	if b.over {
		messages = nil
	}
	var due <-chan time.Time
	switch {
	case len(b.queue) == 0 && b.over:
		b.end(b.upstream.Trailer)
		return
	case len(b.queue) > 0:
		wait := time.Until(b.queue[0].due)
		if wait <= 0 {
			b.out = b.queue[0].raw
			b.queue = b.queue[1:]
			return
		}
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-b.ctx.Done():
		b.err = context.Cause(b.ctx)
	case <-changed:
	case <-due:
	case m := <-messages:
		b.take(m)
	}
}

// unavailable is the gRPC status of a server that has gone away; etcd's client tries again.
const unavailable = "14"

func (b *watchBody) take(m received) {
	switch {
	case errors.Is(m.err, io.EOF):
		b.over = true
		return
	case m.err != nil:
		b.err = m.err
		return
	}
	parsed, err := parseResponse(m.raw)
	if err != nil { // it is not for us to judge; the client will
		b.queue = append(b.queue, delivery{raw: m.raw, due: time.Now()})
		return
	}
	for _, d := range b.stream.route(parsed, time.Now()) {
		if d.by != nil {
			b.held = append(b.held, d)
			continue
		}
		b.enqueue(d)
	}
}

// enqueue keeps the order of messages that are due at the same time.
func (b *watchBody) enqueue(d delivery) {
	i := len(b.queue)
	for i > 0 && b.queue[i-1].due.After(d.due) {
		i--
	}
	b.queue = slices.Insert(b.queue, i, d)
}

// release queues what is no longer held. Which faults are over is settled first: one may end at any moment, and no message is
// to go before those that were held earlier.
func (b *watchBody) release() {
	over := map[*etcdRule]bool{}
	for _, d := range b.held {
		over[d.by] = d.by.inj.over()
	}
	b.held = slices.DeleteFunc(b.held, func(d delivery) bool {
		if over[d.by] {
			b.enqueue(d)
		}
		return over[d.by]
	})
}

// end finishes the call with these trailers.
func (b *watchBody) end(trailers http.Header) {
	maps.Copy(b.client.Trailer, trailers)
	b.err = io.EOF
}
