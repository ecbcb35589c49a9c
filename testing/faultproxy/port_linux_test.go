// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// While connections are refused, nobody's outgoing connection can take the port.
func TestRefuseKeepsThePort(t *testing.T) {
	s := newEchoServer(t)
	p := newTCP(t, s.Addr().String(), faultproxy.TCPOptions{})
	port, err := net.ResolveTCPAddr("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	inj := p.Refuse()
	thief, err := (&net.Dialer{LocalAddr: port}).DialContext(patient(t), "tcp", s.Addr().String())
	if err == nil {
		_ = thief.Close()
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("an outgoing connection from the port: %v, want that the address is in use", err)
	}
	inj.Lift()
	c := dialPeer(t, p.Addr())
	c.say(t, "x")
	c.hear(t, "x")
	for _, e := range p.Record() {
		if e.Action == faultproxy.Failed {
			t.Errorf("record: %+v", e)
		}
	}
}
