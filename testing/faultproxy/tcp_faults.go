// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"fmt"
	"slices"
	"time"
)

// Direction is a direction of travel through a TCP proxy.
type Direction int

const (
	// Both directions; the zero value.
	Both Direction = iota
	// ToServer is what the client sends.
	ToServer
	// ToClient is what the server sends.
	ToClient
)

// String returns the name of the direction.
func (d Direction) String() string {
	switch d {
	case ToServer:
		return "ToServer"
	case ToClient:
		return "ToClient"
	default:
		return "Both"
	}
}

// Blackhole says what a TCP black hole swallows. The zero value swallows everything: all connections, both directions.
type Blackhole struct {
	// Direction that is cut; the other goes on.
	Direction Direction
	// Existing restricts the black hole to the connections open when it is set, New to those that come later. Neither, or
	// both: all of them.
	Existing, New bool
	// Connections restricts it to these, by the IDs of TCP.Connections.
	Connections []uint64
}

func (b Blackhole) String() string {
	which := "all connections"
	switch {
	case len(b.Connections) > 0:
		which = fmt.Sprintf("connections %v", b.Connections)
	case b.Existing && !b.New:
		which = "existing connections"
	case b.New && !b.Existing:
		which = "new connections"
	}
	return fmt.Sprintf("%s, direction %s", which, b.Direction)
}

// hole is a black hole in force.
type hole struct {
	Blackhole
	inj *Injection
	// last is the newest connection that existed when the hole was dug.
	last uint64
}

// covers reports whether the hole swallows what this connection sends in direction d.
func (h *hole) covers(id uint64, d Direction) bool {
	if h.Direction != Both && h.Direction != d {
		return false
	}
	if len(h.Connections) > 0 {
		return slices.Contains(h.Connections, id)
	}
	if h.Existing == h.New {
		return true
	}
	return h.Existing == (id <= h.last)
}

// pacer spreads bytes over time. It is not safe for concurrent use.
type pacer struct {
	rate int64 // bytes per second
	free time.Time
}

// reserve books the passage of n bytes and returns how long the caller has to wait before it sends them.
func (p *pacer) reserve(n int, now time.Time) time.Duration {
	if p.free.Before(now) {
		p.free = now
	}
	wait := p.free.Sub(now)
	p.free = p.free.Add(time.Duration(float64(n) / float64(p.rate) * float64(time.Second)))
	return wait
}

// slice is how much may pass at once: a twentieth of a second, so that a slow line is slow and smooth rather than slow and
// bursty.
func (p *pacer) slice() int {
	return int(max(1, min(p.rate/20, segmentSize)))
}

// reserve books a slice of what is to be sent on every thin line, and returns its size and how long to wait for it.
func (p *TCP) reserve(d Direction, n int) (int, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := p.faults.lines
	pacers := make([]*pacer, 0, len(lines))
	for _, l := range lines {
		pc := &l.toServer
		if d == ToClient {
			pc = &l.toClient
		}
		l.inj.hit()
		n = min(n, pc.slice())
		pacers = append(pacers, pc)
	}
	var wait time.Duration
	now := time.Now()
	for _, pc := range pacers {
		wait = max(wait, pc.reserve(n, now))
	}
	return n, wait
}
