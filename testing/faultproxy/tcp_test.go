// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// echoServer answers every connection with what it gets, and counts connections.
type echoServer struct {
	net.Listener
	accepted atomic.Int32
}

func newEchoServer(t *testing.T) *echoServer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &echoServer{Listener: ln}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			s.accepted.Add(1)
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	return s
}

// peer is a client's end of a connection.
type peer struct{ *net.TCPConn }

func dialPeer(t *testing.T, addr string) *peer {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(patient(t), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &peer{conn.(*net.TCPConn)}
}

func (c *peer) say(t *testing.T, text string) {
	t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// hear waits for exactly this text.
func (c *peer) hear(t *testing.T, want string) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c, got); err != nil || string(got) != want {
		t.Fatalf("heard %q (%v), want %q", got[:n], err, want)
	}
}

// silent fails if anything comes, an end included.
func (c *peer) silent(t *testing.T) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(glance))
	buf := make([]byte, 16)
	n, err := c.Read(buf)
	var timeout net.Error
	if n > 0 || !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Fatalf("read %q, %v; want nothing at all", buf[:n], err)
	}
}

func newTCP(t *testing.T, target string, opts faultproxy.TCPOptions) *faultproxy.TCP {
	t.Helper()
	p, err := faultproxy.NewTCP(target, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return p
}

// tcpPair is a proxy in front of an echo server with one client that has been heard.
func tcpPair(t *testing.T) (*echoServer, *faultproxy.TCP, *peer) {
	t.Helper()
	s := newEchoServer(t)
	p := newTCP(t, s.Addr().String(), faultproxy.TCPOptions{})
	c := dialPeer(t, p.Addr())
	c.say(t, "hello")
	c.hear(t, "hello")
	return s, p, c
}

func TestTCPForwards(t *testing.T) {
	s, p, c := tcpPair(t)
	eventually(t, "the bytes to be counted", func() bool {
		conns := p.Connections()
		return len(conns) == 1 && conns[0].ToServer == 5 && conns[0].ToClient == 5
	})
	conn := p.Connections()[0]
	if conn.ID != 1 || conn.Client != c.LocalAddr().String() || conn.Server != s.Addr().String() || conn.Dead ||
		!conn.LastByte.After(conn.Opened) {
		t.Errorf("connection %+v", conn)
	}
	c.say(t, "bye")
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); err != nil || string(got) != "bye" {
		t.Errorf("after half a close: %q, %v", got, err)
	}
	eventually(t, "the connection to be gone", func() bool { return len(p.Connections()) == 0 })
}

func TestTCPForwardsMuch(t *testing.T) {
	_, _, c := tcpPair(t)
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	go func() {
		_, _ = c.Write(sent)
		_ = c.CloseWrite()
	}()
	if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes of %d came back, %v", len(got), len(sent), err)
	}
}

func TestBlackholeOfExistingConnections(t *testing.T) {
	_, p, c := tcpPair(t)
	inj := p.Blackhole(faultproxy.Blackhole{Existing: true})
	c.say(t, "one")
	c.silent(t)
	fresh := dialPeer(t, p.Addr())
	fresh.say(t, "two")
	fresh.hear(t, "two")
	if inj.Hits() != 1 {
		t.Errorf("%d hits, want 1", inj.Hits())
	}
	inj.Lift()
	c.hear(t, "one") // what was held arrives
}

func TestBlackholeOfNewConnections(t *testing.T) {
	s, p, c := tcpPair(t)
	inj := p.Blackhole(faultproxy.Blackhole{New: true})
	fresh := dialPeer(t, p.Addr())
	fresh.say(t, "two")
	fresh.silent(t)
	if got := s.accepted.Load(); got != 1 {
		t.Errorf("the server has %d connections, want the first only", got)
	}
	c.say(t, "one")
	c.hear(t, "one")
	inj.Lift()
	fresh.hear(t, "two")
	if inj.Hits() != 1 {
		t.Errorf("%d hits, want 1", inj.Hits())
	}
}

func TestBlackholeOneWay(t *testing.T) {
	s, p, c := tcpPair(t)
	inj := p.Blackhole(faultproxy.Blackhole{Direction: faultproxy.ToClient})
	c.say(t, "x")
	c.silent(t)
	eventually(t, "the server's side to get the byte", func() bool { return p.Connections()[0].ToServer == 6 })
	if got := p.Connections()[0].ToClient; got != 5 {
		t.Errorf("%d bytes went to the client, want 5", got)
	}
	inj.Lift()
	c.hear(t, "x")
	_ = s
}

func TestBlackholeOfOneConnection(t *testing.T) {
	_, p, c := tcpPair(t)
	other := dialPeer(t, p.Addr())
	other.say(t, "x")
	other.hear(t, "x")
	p.Blackhole(faultproxy.Blackhole{Connections: []uint64{1}})
	c.say(t, "one")
	c.silent(t)
	other.say(t, "two")
	other.hear(t, "two")
}

// The other side of a black hole does not learn that this one has closed.
func TestBlackholeHidesTheEnd(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	p := newTCP(t, ln.Addr().String(), faultproxy.TCPOptions{})
	c := dialPeer(t, p.Addr())
	conn, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	server := &peer{conn.(*net.TCPConn)}
	inj := p.Blackhole(faultproxy.Blackhole{})
	_ = server.Close()
	c.silent(t)
	inj.Lift()
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("no end after the lift")
	}
}

func TestResetOfOneAndAll(t *testing.T) {
	_, p, c := tcpPair(t)
	other := dialPeer(t, p.Addr())
	other.say(t, "x")
	other.hear(t, "x")
	broken := func(c *peer) {
		t.Helper()
		_ = c.SetReadDeadline(time.Now().Add(patience))
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("read: %v, want a reset", err)
		}
	}
	if inj := p.Reset(1); inj.Hits() != 1 {
		t.Errorf("%d hits, want 1", inj.Hits())
	}
	broken(c)
	other.say(t, "y")
	other.hear(t, "y")
	if inj := p.Reset(); inj.Hits() != 1 {
		t.Errorf("%d hits, want 1", inj.Hits())
	}
	broken(other)
}

// A reset by one side reaches the other as a reset.
func TestTCPPassesResetsOn(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	p := newTCP(t, ln.Addr().String(), faultproxy.TCPOptions{})
	c := dialPeer(t, p.Addr())
	conn, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read: %v, want a reset", err)
	}
}

func TestIdleDrop(t *testing.T) {
	_, p, c := tcpPair(t)
	const after = 50 * time.Millisecond
	inj := p.IdleDrop(after)
	eventually(t, "the connection to be dropped", func() bool { return p.Connections()[0].Dead })
	c.say(t, "one")
	c.silent(t)
	inj.Lift()
	c.silent(t) // for ever
	if inj.Hits() != 1 {
		t.Errorf("%d hits, want 1", inj.Hits())
	}
	fresh := dialPeer(t, p.Addr())
	fresh.say(t, "two")
	fresh.hear(t, "two")
}

// A connection that was idle for too long is lost with its next byte, whether or not anybody has looked in between.
func TestIdleDropIsNoticedWithTheNextByte(t *testing.T) {
	_, p, c := tcpPair(t)
	const after = 20 * time.Millisecond
	inj := p.IdleDrop(after)
	elapse(4 * after)
	c.say(t, "one")
	if err := inj.WaitHits(patient(t), 1); err != nil {
		t.Fatal(err)
	}
	c.silent(t)
}

func TestTCPDelay(t *testing.T) {
	_, p, c := tcpPair(t)
	const delay = 60 * time.Millisecond
	inj := p.Delay(delay)
	start := time.Now()
	c.say(t, "x")
	c.hear(t, "x")
	if took := time.Since(start); took < 2*delay {
		t.Errorf("there and back took %v, want at least %v", took, 2*delay)
	}
	if inj.Hits() < 2 {
		t.Errorf("%d hits, want one each way", inj.Hits())
	}
}

func TestBandwidth(t *testing.T) {
	_, p, c := tcpPair(t)
	const size = 20_000
	inj := p.Bandwidth(4 * size) // a quarter of a second, each way at the same time
	start := time.Now()
	text := strings.Repeat("x", size)
	c.say(t, text)
	c.hear(t, text)
	if took := time.Since(start); took < 200*time.Millisecond { // the first portion does not wait
		t.Errorf("%d bytes took %v, want about 250ms", size, took)
	}
	inj.Lift()
	c.say(t, "x")
	c.hear(t, "x")
}

func TestAcceptSilently(t *testing.T) {
	s, p, c := tcpPair(t)
	inj := p.AcceptSilently()
	fresh := dialPeer(t, p.Addr())
	fresh.say(t, "x")
	fresh.silent(t)
	c.say(t, "one")
	c.hear(t, "one")
	inj.Lift()
	fresh.silent(t) // it stays dead
	if inj.Hits() != 1 || s.accepted.Load() != 1 {
		t.Errorf("%d hits, %d connections at the server; want 1 of each", inj.Hits(), s.accepted.Load())
	}
	late := dialPeer(t, p.Addr())
	late.say(t, "two")
	late.hear(t, "two")
}

func TestRefuse(t *testing.T) {
	_, p, c := tcpPair(t)
	first, second := p.Refuse(), p.Refuse()
	refused := func() {
		t.Helper()
		_, err := (&net.Dialer{}).DialContext(patient(t), "tcp", p.Addr())
		if !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial: %v, want connection refused", err)
		}
	}
	refused()
	c.say(t, "one")
	c.hear(t, "one")
	first.Lift()
	refused() // the other is still in force
	second.Lift()
	late := dialPeer(t, p.Addr())
	late.say(t, "two")
	late.hear(t, "two")
}

func TestTCPTargetDown(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	p := newTCP(t, ln.Addr().String(), faultproxy.TCPOptions{})
	conn, err := (&net.Dialer{}).DialContext(patient(t), "tcp", p.Addr())
	if err == nil { // the reset was not quick enough to fail the dial
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		_, err = conn.Read(make([]byte, 1))
		_ = conn.Close()
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("error %v, want a reset", err)
	}
}

func TestTCPRecord(t *testing.T) {
	_, p, _ := tcpPair(t)
	p.Blackhole(faultproxy.Blackhole{Existing: true, Direction: faultproxy.ToServer}).Lift()
	record := p.Record()
	if len(record) != 2 || record[0].Action != faultproxy.Injected || record[1].Action != faultproxy.Lifted ||
		record[0].Fault != "Blackhole" || record[0].Target != "existing connections, direction ToServer" {
		t.Errorf("record %+v", record)
	}
}

func TestNewTCPValidates(t *testing.T) {
	for _, tc := range []struct {
		name, target string
		opts         faultproxy.TCPOptions
		want         string
	}{
		{"no port", "localhost", faultproxy.TCPOptions{}, `target "localhost"`},
		{"negative timeout", "localhost:1", faultproxy.TCPOptions{DialTimeout: -1}, "TCPOptions.DialTimeout -1ns"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := faultproxy.NewTCP(tc.target, tc.opts); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one that names %s", err, tc.want)
			}
		})
	}
}
