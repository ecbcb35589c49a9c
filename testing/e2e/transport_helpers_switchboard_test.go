// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// switchboard is a load balancer of connections to two API servers. All lead to
// the first, until it is told to lead them to the second.
type switchboard struct {
	listener      net.Listener
	first, second string
	ctx           context.Context
	wg            sync.WaitGroup

	mu       sync.Mutex
	accepted int
	switched bool
	misses   int // connections that lead to the first after all
}

// startSwitchboard runs a switchboard until the end of the test.
func startSwitchboard(t *testing.T, first, second *faultproxy.API) *switchboard {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &switchboard{listener: listener, first: first.Addr(), second: second.Addr()}
	var cancel context.CancelFunc
	b.ctx, cancel = context.WithCancel(context.WithoutCancel(t.Context()))
	b.wg.Go(b.accept)
	t.Cleanup(func() { cancel(); _ = listener.Close(); b.wg.Wait() })
	return b
}

func (b *switchboard) accept() {
	for {
		client, err := b.listener.Accept()
		if err != nil {
			return // closed
		}
		place := b.lead()
		b.wg.Go(func() { b.forward(client, place) })
	}
}

func (b *switchboard) lead() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.accepted++
	if !b.switched {
		return b.first
	}
	if b.misses > 0 {
		b.misses--
		return b.first
	}
	return b.second
}

// switchAfter leads new connections to the second API server, after so many more
// to the first, and returns how many there have been.
func (b *switchboard) switchAfter(misses int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.switched, b.misses = true, misses
	return b.accepted
}

// connections returns how many there were so far.
func (b *switchboard) connections() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.accepted
}

func (b *switchboard) forward(client net.Conn, place string) {
	defer client.Close()
	server, err := (&net.Dialer{}).DialContext(b.ctx, "tcp", place)
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

// config returns a copy that goes by the switchboard, and trusts what is behind
// it.
func (b *switchboard) config(base *rest.Config, behind ...*faultproxy.API) *rest.Config {
	cfg := rest.CopyConfig(base)
	cfg.Host = "https://" + b.listener.Addr().String()
	cfg.CAData = nil
	for _, api := range behind {
		cfg.CAData = append(cfg.CAData, api.CA()...)
	}
	return cfg
}
