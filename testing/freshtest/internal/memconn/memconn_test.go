// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package memconn_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/nettest"

	"github.com/freshwatch/freshwatch/testing/freshtest/internal/memconn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dial returns both ends of a new connection.
func dial(t *testing.T, l *memconn.Listener) (client, server net.Conn) {
	t.Helper()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			t.Errorf("Accept: %v", err)
		}
		accepted <- c
	}()
	client, err := l.DialContext(t.Context(), "tcp", "ignored:1")
	if err != nil {
		t.Fatalf("DialContext: %v", err)
	}
	server = <-accepted
	t.Cleanup(func() {
		client.Close()
		server.Close()
	})
	return client, server
}

func TestConnKeepsTheContractOfNetConn(t *testing.T) {
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		l := memconn.Listen("server")
		c1, c2 = dial(t, l)
		return c1, c2, func() { c1.Close(); c2.Close(); l.Close() }, nil
	})
}

func TestWriteBlocksWhenTheReaderIsFarBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := dial(t, memconn.Listen("server"))
		const size = 1 << 20
		sent := make(chan error, 1)
		go func() {
			_, err := client.Write(make([]byte, size))
			sent <- err
		}()
		synctest.Wait()
		select {
		case err := <-sent:
			t.Fatalf("a write of %d bytes that nobody reads returned (%v)", size, err)
		default:
		}
		if n, err := io.CopyN(io.Discard, server, size); err != nil {
			t.Fatalf("read %d bytes of %d: %v", n, size, err)
		}
		if err := <-sent; err != nil {
			t.Fatalf("Write: %v", err)
		}
	})
}

func TestCloseDeliversWhatWasWritten(t *testing.T) {
	client, server := dial(t, memconn.Listen("server"))
	if _, err := client.Write([]byte("bye")); err != nil {
		t.Fatalf("Write: %v", err)
	}
	client.Close()
	if got, err := io.ReadAll(server); string(got) != "bye" || err != nil {
		t.Errorf("read %q, %v; want \"bye\" and the end", got, err)
	}
	if _, err := server.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("write to a closed peer: %v, want EPIPE", err)
	}
}

func TestReset(t *testing.T) {
	l := memconn.Listen("server")
	client, server := dial(t, l)
	l.Reset()
	for name, c := range map[string]net.Conn{"client": client, "server": server} {
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s reads %v, want ECONNRESET", name, err)
		}
		if _, err := c.Write([]byte("x")); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s writes %v, want ECONNRESET", name, err)
		}
	}
}

func TestBlackHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memconn.Listen("server")
		client, server := dial(t, l)
		held, lift := l.BlackHole()
		if held != 1 {
			t.Errorf("BlackHole holds %d connections, want 1", held)
		}
		if _, err := client.Write([]byte("x")); err != nil {
			t.Fatalf("a black hole tells the writer: %v", err)
		}
		client.Close()
		server.SetReadDeadline(time.Now().Add(time.Hour))
		if _, err := server.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the other side learned of it: %v", err)
		}
		server.SetReadDeadline(time.Time{})
		lift()
		if got, err := io.ReadAll(server); string(got) != "x" || err != nil {
			t.Errorf("after the black hole: %q, %v", got, err)
		}
	})
}

func TestBlackHoleSparesLaterConnections(t *testing.T) {
	l := memconn.Listen("server")
	dial(t, l)
	l.BlackHole()
	client, server := dial(t, l)
	client.Write([]byte("x"))
	if _, err := server.Read(make([]byte, 1)); err != nil {
		t.Errorf("a later connection: %v", err)
	}
	if got := l.Dialed(); got != 2 {
		t.Errorf("Dialed = %d, want 2", got)
	}
}

func TestRefuse(t *testing.T) {
	l := memconn.Listen("server")
	lift := l.Refuse()
	if _, err := l.DialContext(t.Context(), "", ""); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("refused: %v, want ECONNREFUSED", err)
	}
	lift()
	dial(t, l)
	l.Close()
	if _, err := l.DialContext(t.Context(), "", ""); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("closed: %v, want ECONNREFUSED", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after Close: %v, want net.ErrClosed", err)
	}
}

func TestDialGivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := memconn.Listen("server").DialContext(ctx, "", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("dial: %v, want context.Canceled", err)
	}
}
