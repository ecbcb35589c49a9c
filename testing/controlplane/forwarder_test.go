// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"io"
	"net"
	"sync"
)

// forwarder passes TCP connections on, as the simplest proxy between kube-apiserver and etcd.
type forwarder struct {
	listener net.Listener
	target   string
	running  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	conns  []net.Conn
}

func (f *forwarder) accept() {
	for {
		client, err := f.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", f.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		if f.keep(client, server) {
			f.running.Go(func() { pipe(client, server) })
			f.running.Go(func() { pipe(server, client) })
		}
	}
}

// keep remembers connections for close, or closes them if that has been called.
func (f *forwarder) keep(conns ...net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns = append(f.conns, conns...)
	if f.closed {
		closeAll(conns)
	}
	return !f.closed
}

func (f *forwarder) close() {
	f.mu.Lock()
	f.closed = true
	_ = f.listener.Close()
	closeAll(f.conns)
	f.mu.Unlock()
	f.running.Wait()
}

func pipe(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	closeAll([]net.Conn{to, from})
}

func closeAll(conns []net.Conn) {
	for _, conn := range conns {
		_ = conn.Close()
	}
}
