// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"net"
	"sync"
)

// balancer is a load balancer of connections to several targets. All go to the
// first until it is told to take turns.
type balancer struct {
	listener net.Listener
	targets  []string
	ctx      context.Context //nolint:containedctx // of the connections, which outlive the call that accepts them
	cancel   context.CancelFunc
	wg       sync.WaitGroup

	mu    sync.Mutex
	turns bool
	next  int
}

func startBalancer(targets ...string) (*balancer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &balancer{listener: listener, targets: targets}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.wg.Go(b.accept)
	return b, nil
}

func (b *balancer) addr() string { return b.listener.Addr().String() }

// leadTo leads all new connections to one target.
func (b *balancer) leadTo(target int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turns, b.next = false, target
}

// takeTurns leads the next connection to the given target, the one after it to the
// next, and so on.
func (b *balancer) takeTurns(from int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turns, b.next = true, from
}

func (b *balancer) close() error {
	b.cancel()
	err := b.listener.Close()
	b.wg.Wait()
	return err
}

func (b *balancer) accept() {
	for {
		client, err := b.listener.Accept()
		if err != nil {
			return // closed
		}
		target := b.lead()
		b.wg.Go(func() { b.forward(client, target) })
	}
}

func (b *balancer) lead() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	target := b.targets[b.next%len(b.targets)]
	if b.turns {
		b.next++
	}
	return target
}

func (b *balancer) forward(client net.Conn, target string) {
	defer client.Close()
	server, err := (&net.Dialer{}).DialContext(b.ctx, "tcp", target)
	if err != nil {
		return
	}
	defer server.Close()
	stop := context.AfterFunc(b.ctx, func() { _, _ = client.Close(), server.Close() })
	defer stop()
	var wg sync.WaitGroup
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_, _ = client.Close(), server.Close()
	}
	wg.Go(func() { pass(server, client) })
	wg.Go(func() { pass(client, server) })
	wg.Wait()
}
