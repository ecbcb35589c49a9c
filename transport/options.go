// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	// DefaultReadIdleTimeout and DefaultPingTimeout together notice a dead
	// connection within 15 s, where client-go 0.37 takes 45 s (30 s and 15 s). An
	// idle connection then carries 17 bytes each way every 10 s.
	DefaultReadIdleTimeout = 10 * time.Second
	// DefaultPingTimeout is several round trips around the world, with
	// retransmissions.
	DefaultPingTimeout = 5 * time.Second
	// DefaultWriteTimeout is for a connection that takes no more bytes: a PING
	// cannot be sent on it either.
	DefaultWriteTimeout = 15 * time.Second
	// DefaultMaxWatch is below the 240 s after which Azure's load balancers forget
	// an idle flow by default.
	DefaultMaxWatch = 200 * time.Second
	// DefaultGrace is what a server may be late by to end a watch: kube-apiserver
	// 1.37 takes some milliseconds.
	DefaultGrace = 10 * time.Second
	// DefaultHeaderTimeout is ten times the 3 s for which kube-apiserver 1.37 lets
	// a watch wait for its watch cache.
	DefaultHeaderTimeout = 30 * time.Second
	// DefaultIdleTimeout is longer than the 61.25 s that can lie between two
	// bookmarks (apiserver 0.37), so that no stream is ended that carries any.
	DefaultIdleTimeout = 90 * time.Second
	// DefaultListTimeout is longer than the 60 s after which kube-apiserver gives a
	// list up by itself (--request-timeout).
	DefaultListTimeout = 70 * time.Second

	// MinMaxWatch is the least MaxWatch: below it, renewing watches costs more than
	// any fault that it heals.
	MinMaxWatch = 30 * time.Second

	// tick is how often streams are looked at: a few atomic loads each, and only
	// while there are any.
	tick = time.Second
)

// Options configures Wrap. The zero value is ready for use. All durations are
// kept to within two seconds.
type Options struct {
	// ReadIdleTimeout is after how long without any frame on an HTTP/2 connection a
	// PING is sent. On HTTP/1.1 it is after how long TCP keep-alive probes begin, also
	// on connections that the config's own Dial made.
	//
	// Defaults to 10s. At least 1s, and with PingTimeout below MaxWatch.
	ReadIdleTimeout time.Duration

	// PingTimeout is after how long without an answer to the PING the connection is
	// closed. On Linux it is, with ReadIdleTimeout, the TCP user timeout too.
	//
	// Defaults to 5s. At least 1s.
	PingTimeout time.Duration

	// WriteTimeout is after how long an HTTP/2 connection is closed that takes no
	// byte of what is to be sent.
	//
	// Defaults to 15s. At least 1s.
	WriteTimeout time.Duration

	// MaxWatch is the longest timeout that the server is asked to end a watch after.
	// Longer ones, and watches without, get a random one between three quarters of
	// it and all of it, so that informers do not renew their watches together. A
	// watch that begins with initial events (WatchList) keeps its own, since it
	// would have to begin anew; it is renewed after such a time, once it has brought
	// nothing for 10 s.
	//
	// Defaults to 200s. At least 30s.
	MaxWatch time.Duration

	// Grace is how much longer than it was asked to a server may keep a watch open.
	// It is then ended on this side.
	//
	// Defaults to 10s. At least 1s.
	Grace time.Duration

	// HeaderTimeout is how long a watch may wait for its response to begin. Some
	// proxies hold it back until the first event; there, a watch without events is
	// sent anew as often as this.
	//
	// Defaults to 30s. At least 1s.
	HeaderTimeout time.Duration

	// IdleTimeout is how long a watch may bring nothing, neither event nor bookmark,
	// while its reader is waiting. It is then ended, and the reflector resumes: one
	// request, no object is sent twice. A healthy watch on a kind of which nothing
	// is written or read may be that quiet too.
	//
	// Defaults to 90s. At least 10s. Below 62s quiet watches are renewed before
	// their bookmark.
	IdleTimeout time.Duration

	// ListTimeout is how long a list may make no progress, before its response
	// begins and between two pieces of it, while its reader is waiting. It then
	// fails with ErrListStalled. A list that moves is never ended, however large.
	//
	// Defaults to 70s. At least 1s.
	ListTimeout time.Duration

	// ExitOnUnauthorized ends the process when its credential is dead.
	//
	// Defaults to nil: 401s are counted, and nothing is done.
	ExitOnUnauthorized *ExitOptions

	// Observer is told of every list and watch that ends, every connection that is
	// opened or closed, every dial that fails, and every 401: not of each event of a
	// watch. With a Transport of the config's own it knows of no connection.
	//
	// It is called by whichever goroutine notices, by several at once, with no lock
	// of this package held. It must return soon, and wait for no request: the end of a
	// stream, a dial or a close waits for it, and the deadlines of all streams may. A
	// panic in it is not caught.
	//
	// Defaults to nil: nobody.
	Observer func(Event)

	// Logger gets one line for each connection and stream that this package ends;
	// those of watches that are renewed because they are quiet, at V(1).
	//
	// Defaults to klog's, also for logr.Discard(), which is the zero Logger.
	Logger logr.Logger

	// Clock is for tests. Connections (PINGs, TCP) keep to the real one.
	//
	// Defaults to the real clock.
	Clock clock.WithTicker
}

// withDefaults returns o completed and checked.
func (o Options) withDefaults() (Options, error) {
	durations := []struct {
		name          string
		value         *time.Duration
		fallback, min time.Duration
		why           string
	}{
		{"ReadIdleTimeout", &o.ReadIdleTimeout, DefaultReadIdleTimeout, time.Second, "TCP counts in seconds"},
		{"PingTimeout", &o.PingTimeout, DefaultPingTimeout, time.Second, "a round trip takes time"},
		{"WriteTimeout", &o.WriteTimeout, DefaultWriteTimeout, time.Second, "a round trip takes time"},
		{"MaxWatch", &o.MaxWatch, DefaultMaxWatch, MinMaxWatch, "renewing watches is not free"},
		{"Grace", &o.Grace, DefaultGrace, time.Second, "streams are looked at every second"},
		{"HeaderTimeout", &o.HeaderTimeout, DefaultHeaderTimeout, time.Second, "streams are looked at every second"},
		{"IdleTimeout", &o.IdleTimeout, DefaultIdleTimeout, 10 * time.Second, "bookmarks come about once a minute"},
		{"ListTimeout", &o.ListTimeout, DefaultListTimeout, time.Second, "streams are looked at every second"},
	}
	for _, d := range durations {
		if *d.value == 0 {
			*d.value = d.fallback
		}
		if *d.value < d.min {
			return o, fmt.Errorf("transport: Options.%s is %v, but must be at least %v (%s)", d.name, *d.value, d.min, d.why)
		}
	}
	if o.ReadIdleTimeout >= o.MaxWatch-o.PingTimeout { // their sum could overflow
		return o, fmt.Errorf("transport: Options.ReadIdleTimeout and Options.PingTimeout are %v and %v, but must together stay below Options.MaxWatch, %v (or a dead connection is noticed only when its watches end)",
			o.ReadIdleTimeout, o.PingTimeout, o.MaxWatch)
	}
	if o.Logger.GetSink() == nil {
		o.Logger = klog.Background().WithName("transport")
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o, nil
}
