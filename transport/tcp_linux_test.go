// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"k8s.io/client-go/rest"
)

// socketOptions are what the kernel says of a connection, in the units of tcp(7).
type socketOptions struct {
	KeepAlive             int // on or off
	Idle, Interval, Count int // s, s, probes
	UserTimeout           int // ms
}

func socketOptionsOf(t *testing.T, c net.Conn) socketOptions {
	t.Helper()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var got socketOptions
	if err := raw.Control(func(fd uintptr) {
		for _, o := range []struct {
			level, name int
			value       *int
		}{
			{unix.SOL_SOCKET, unix.SO_KEEPALIVE, &got.KeepAlive},
			{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, &got.Idle},
			{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, &got.Interval},
			{unix.IPPROTO_TCP, unix.TCP_KEEPCNT, &got.Count},
			{unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, &got.UserTimeout},
		} {
			v, err := unix.GetsockoptInt(int(fd), o.level, o.name)
			if err != nil {
				t.Errorf("getsockopt(%d, %d): %v", o.level, o.name, err)
			}
			*o.value = v
		}
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

// The kernel is told how long to wait, whoever's dialer made the connection.
func TestSocketOptions(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	plain := (&net.Dialer{KeepAlive: -1}).DialContext
	untouched, err := plain(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer untouched.Close()
	if got := socketOptionsOf(t, untouched); got.KeepAlive != 0 || got.UserTimeout != 0 {
		t.Fatalf("a connection that nobody touched has %+v, want neither keep-alive nor user timeout", got)
	}

	for _, tt := range []struct {
		name string
		dial func(ctx context.Context, network, address string) (net.Conn, error)
		opts Options
		want socketOptions
	}{
		{
			name: "defaults", want: socketOptions{KeepAlive: 1, Idle: 10, Interval: 2, Count: 3, UserTimeout: 15_000},
		},
		{
			name: "options", opts: Options{ReadIdleTimeout: 20 * time.Second, PingTimeout: 9 * time.Second},
			want: socketOptions{KeepAlive: 1, Idle: 20, Interval: 3, Count: 3, UserTimeout: 29_000},
		},
		{
			name: "least, and a dialer of the config's own", dial: plain, opts: Options{ReadIdleTimeout: time.Second, PingTimeout: time.Second},
			want: socketOptions{KeepAlive: 1, Idle: 1, Interval: 1, Count: 3, UserTimeout: 2_000},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := &rest.Config{Host: "https://" + l.Addr().String(), Dial: tt.dial}
			if _, err := Wrap(cfg, tt.opts); err != nil {
				t.Fatal(err)
			}
			c, err := cfg.Dial(t.Context(), "tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if diff := cmp.Diff(tt.want, socketOptionsOf(t, c.(*connection).Conn)); diff != "" {
				t.Errorf("socket options (-want +got):\n%s", diff)
			}
		})
	}
}
