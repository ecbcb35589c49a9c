// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"fmt"
	"net"
	"slices"
	"time"
)

// idleRule, delayRule and line are faults in force.
type (
	idleRule struct {
		inj   *Injection
		after time.Duration
	}
	delayRule struct {
		inj   *Injection
		delay time.Duration
	}
	line struct {
		inj                *Injection
		toServer, toClient pacer
	}
)

// Blackhole swallows bytes without a FIN or an RST: nothing is read any more, so that the peers' kernels go on
// acknowledging until the buffers between are full and nothing is answered. Lifted, what was held back arrives, as it does
// when a network comes back before TCP gives up. New connections are accepted by the kernel and then hang, as behind a
// load balancer that accepts on behalf of its backends; they are forwarded once the hole is lifted. Hits counts
// connections.
func (p *TCP) Blackhole(b Blackhole) *Injection {
	p.mu.Lock()
	defer p.mu.Unlock()
	b.Connections = slices.Clone(b.Connections)
	h := &hole{Blackhole: b, last: p.lastID}
	h.inj = p.journal.inject("Blackhole", b.String(), func() {
		p.withdraw(func(f *tcpFaults) { f.holes = without(f.holes, h) })
	})
	p.faults.holes = append(p.faults.holes, h)
	for id := range p.flows {
		if h.covers(id, ToServer) || h.covers(id, ToClient) {
			h.inj.hit()
		}
	}
	p.changed.notify()
	return h.inj
}

// Reset breaks the connections with these IDs, or all of them if none is given, with an RST to both sides. It happens
// once; lifting changes nothing. Hits counts connections.
func (p *TCP) Reset(ids ...uint64) *Injection {
	inj := p.journal.inject("Reset", fmt.Sprintf("connections %v (none: all)", ids), nil)
	for _, f := range p.snapshot() {
		if (len(ids) == 0 || slices.Contains(ids, f.id)) && f.close(true) {
			inj.hit()
		}
	}
	return inj
}

// IdleDrop forgets a connection that has carried no byte for longer than after: from then on it is a black hole for ever,
// without FIN or RST, as with the load balancers of some clouds (Azure: 240 s). Idle time from before the injection counts.
// TCP keep-alive probes end at the proxy's kernel and do not keep a connection alive; HTTP/2 PING does. Lifting saves only
// those that are not forgotten yet. Hits counts connections; one that was forgotten is noticed with its next byte, or when
// somebody looks (Connections, Lift).
func (p *TCP) IdleDrop(after time.Duration) *Injection {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &idleRule{after: after}
	r.inj = p.journal.inject("IdleDrop", "connections idle for "+after.String(), func() {
		p.withdraw(func(f *tcpFaults) {
			p.dropIdleLocked(time.Now())
			f.idle = without(f.idle, r)
		})
	})
	p.faults.idle = append(p.faults.idle, r)
	return r.inj
}

// Delay makes bytes arrive d later, in both directions, without cutting the bandwidth until about 2 MiB are under way.
// Bytes under way when it is set or lifted keep the delay they have. Hits counts reads.
func (p *TCP) Delay(d time.Duration) *Injection {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &delayRule{delay: d}
	r.inj = p.journal.inject("Delay", d.String(), func() {
		p.withdraw(func(f *tcpFaults) { f.delays = without(f.delays, r) })
	})
	p.faults.delays = append(p.faults.delays, r)
	return r.inj
}

// Bandwidth cuts the line to so many bytes per second in each direction; all connections share it. Less than 1 is taken
// for 1. Hits counts writes.
func (p *TCP) Bandwidth(bytesPerSecond int64) *Injection {
	p.mu.Lock()
	defer p.mu.Unlock()
	rate := max(1, bytesPerSecond)
	l := &line{toServer: pacer{rate: rate}, toClient: pacer{rate: rate}}
	l.inj = p.journal.inject("Bandwidth", fmt.Sprintf("%d B/s", rate), func() {
		p.withdraw(func(f *tcpFaults) { f.lines = without(f.lines, l) })
	})
	p.faults.lines = append(p.faults.lines, l)
	return l.inj
}

// AcceptSilently accepts new connections, never answers and never dials the target. A connection accepted so stays dead
// after the lift; those that were open before are not touched. Hits counts connections.
func (p *TCP) AcceptSilently() *Injection {
	p.mu.Lock()
	defer p.mu.Unlock()
	var inj *Injection
	inj = p.journal.inject("AcceptSilently", "new connections", func() {
		p.withdraw(func(f *tcpFaults) { f.mutes = without(f.mutes, inj) })
	})
	p.faults.mutes = append(p.faults.mutes, inj)
	return inj
}

// Refuse closes the listener, so that dialling fails with ECONNREFUSED; open connections go on. Lifted, it listens on the
// same port again. On Linux the port is kept for it; elsewhere an outgoing connection of another program may get it in the
// meantime: then nothing listens after the lift, and the record has an entry Failed. Hits stays 0: the kernel refuses, not
// the proxy.
func (p *TCP) Refuse() *Injection {
	p.mu.Lock()
	defer p.mu.Unlock()
	var inj *Injection
	inj = p.journal.inject("Refuse", "new connections", func() { p.unrefuse(inj) })
	p.faults.refuse = append(p.faults.refuse, inj)
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
	return inj
}

func (p *TCP) unrefuse(inj *Injection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults.refuse = without(p.faults.refuse, inj)
	if len(p.faults.refuse) > 0 || p.listener != nil || p.ctx.Err() != nil {
		return
	}
	ln, err := net.Listen("tcp", p.addr)
	if err != nil {
		p.journal.note(inj, Failed, err.Error())
		return
	}
	p.listener = ln
	p.wg.Go(func() { acceptAll(p.ctx, ln, p.adopt) })
}

// withdraw changes the faults in force and tells the connections.
func (p *TCP) withdraw(change func(*tcpFaults)) {
	p.mu.Lock()
	change(&p.faults)
	p.mu.Unlock()
	p.changed.notify()
}

// dropIdleLocked forgets the connections that an idle timeout has caught by now.
func (p *TCP) dropIdleLocked(now time.Time) {
	for _, f := range p.flows {
		f.dropIfIdleLocked(now)
	}
}

func without[T comparable](s []T, v T) []T {
	return slices.DeleteFunc(slices.Clone(s), func(x T) bool { return x == v })
}
