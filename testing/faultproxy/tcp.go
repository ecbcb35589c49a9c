// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-logr/logr"
)

// DefaultDialTimeout is how long a TCP proxy tries to reach its target before it resets the client's connection.
const DefaultDialTimeout = 10 * time.Second

// TCPOptions configures a TCP proxy; the zero value works.
type TCPOptions struct {
	// DialTimeout bounds the dial to the target. Defaults to DefaultDialTimeout; a negative value is an error.
	DialTimeout time.Duration
	// Logger gets one line for each injection and lift. Defaults to none.
	Logger logr.Logger
}

// TCP is a proxy on the transport layer: it forwards bytes between its clients and one target, and loses, delays or
// breaks them on command. What it does to bytes it does not look at, so it serves in front of an API server, behind an
// API proxy, or in front of etcd. All methods are safe for concurrent use.
type TCP struct {
	target  string
	addr    string
	release func() error // gives the port back; guarded by closing
	closing sync.Once
	opts    TCPOptions
	journal *journal
	changed notifier // faults or flows have changed
	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	flows    map[uint64]*flow
	lastID   uint64
	faults   tcpFaults
}

// tcpFaults are the faults in force.
type tcpFaults struct {
	holes  []*hole
	idle   []*idleRule
	delays []*delayRule
	lines  []*line
	mutes  []*Injection
	refuse []*Injection
}

// NewTCP listens on a free port of 127.0.0.1 and forwards to target, which is a host and a port. It fails if target has
// no port, an option is out of range, or no port is free; it does not dial the target before a client comes.
func NewTCP(target string, opts TCPOptions) (*TCP, error) {
	if _, port, err := net.SplitHostPort(target); err != nil || port == "" {
		return nil, fmt.Errorf("target %q: must be host:port", target)
	}
	if opts.DialTimeout < 0 {
		return nil, fmt.Errorf("TCPOptions.DialTimeout %v: must not be negative", opts.DialTimeout)
	}
	if opts.DialTimeout == 0 {
		opts.DialTimeout = DefaultDialTimeout
	}
	port, release, err := reservePort()
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		_ = release()
		return nil, fmt.Errorf("listen: %w", err)
	}
	p := &TCP{
		target: target, addr: ln.Addr().String(), release: release, opts: opts, journal: newJournal(opts.Logger),
		listener: ln, flows: map[uint64]*flow{},
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.wg.Go(func() { acceptAll(p.ctx, ln, p.adopt) })
	return p, nil
}

// Addr returns the address to dial, as host:port. It stays the same while connections are refused.
func (p *TCP) Addr() string { return p.addr }

// Record returns what was injected and lifted and when, oldest first; the newest 4096 entries are kept.
func (p *TCP) Record() []Entry { return p.journal.record() }

// Close ends all faults, closes the listener and all connections, and waits for them.
func (p *TCP) Close() error {
	p.mu.Lock()
	p.cancel()
	ln := p.listener
	p.listener = nil
	p.mu.Unlock()
	var err error
	if ln != nil {
		err = ln.Close()
	}
	p.journal.close()
	for _, f := range p.snapshot() {
		f.close(false)
	}
	p.wg.Wait()
	p.closing.Do(func() { err = errors.Join(err, p.release()) })
	return err
}

// Connections lists the open connections, oldest first, those that are held in a black hole too.
func (p *TCP) Connections() []Connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropIdleLocked(time.Now())
	out := make([]Connection, 0, len(p.flows))
	for _, f := range p.flows {
		out = append(out, f.describe())
	}
	slices.SortFunc(out, func(a, b Connection) int { return int(a.ID) - int(b.ID) })
	return out
}

func (p *TCP) adopt(client *net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		_ = client.Close()
		return
	}
	p.lastID++
	f := newFlow(p, p.lastID, client)
	for _, mute := range p.faults.mutes {
		f.dead = true
		mute.hit()
	}
	for _, h := range p.faults.holes {
		if h.covers(f.id, ToServer) || h.covers(f.id, ToClient) {
			h.inj.hit()
		}
	}
	p.flows[f.id] = f
	p.wg.Go(f.run)
}

func (p *TCP) forget(f *flow) {
	p.mu.Lock()
	delete(p.flows, f.id)
	p.mu.Unlock()
	p.changed.notify()
}

func (p *TCP) snapshot() []*flow {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]*flow, 0, len(p.flows))
	for _, f := range p.flows {
		out = append(out, f)
	}
	return out
}
