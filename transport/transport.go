// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"errors"
	"net/http"
	"reflect"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"k8s.io/client-go/util/connrotation"
	"k8s.io/utils/clock"
)

// Transport is what Wrap has put under a rest.Config: it knows the connections
// and streams of all clients made from the config, and of copies of it. Its
// methods are safe for concurrent use.
type Transport struct {
	http2        *http.HTTP2Config
	dialer       *dialer
	streams      *streams
	unauthorized *unauthorized
	metrics      *metrics
	descs        descs
	clock        clock.WithTicker
	log          logr.Logger
}

// Wrap guards every client that is made from cfg from now on, and from copies of
// it. It changes cfg in place, in two fields: Dial, which calls the one that was
// there, and WrapTransport, which gets one more wrapper, below those that were
// there. Everything else, credentials and TLS above all, stays with client-go.
//
// Each http.Client that is made from cfg has a transport of its own, and so a
// connection; without Wrap those with equal TLS settings share one. Make one with
// rest.HTTPClientFor and hand it to all clients, as a controller-runtime manager
// does, to have them share.
//
// With cfg.Transport set, its owner dials and pings: ReadIdleTimeout,
// PingTimeout, WriteTimeout and Recycle have no effect, the rest has.
//
// The error names the field that is not valid. cfg is unchanged then.
func Wrap(cfg *rest.Config, opts Options) (*Transport, error) {
	if err := check(cfg); err != nil {
		return nil, err
	}
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	unauthorized, err := newUnauthorized(cfg, opts.ExitOnUnauthorized, opts.Clock, opts.Logger)
	if err != nil {
		return nil, err
	}
	live := &streams{clock: opts.Clock, limits: opts.limits(), live: map[*stream]struct{}{}}
	t := &Transport{
		http2: &http.HTTP2Config{
			SendPingTimeout:  opts.ReadIdleTimeout,
			PingTimeout:      opts.PingTimeout,
			WriteByteTimeout: opts.WriteTimeout,
		},
		dialer:       newDialer(cfg.Dial, opts, live),
		streams:      live,
		unauthorized: unauthorized,
		metrics:      newMetrics(),
		descs:        newDescs(),
		clock:        opts.Clock,
		log:          opts.Logger,
	}
	cfg.Dial = t.dialer.DialContext
	cfg.WrapTransport = transport.Wrappers(t.wrap, cfg.WrapTransport)
	return t, nil
}

// check refuses what cannot be wrapped.
func check(cfg *rest.Config) error {
	switch {
	case cfg == nil:
		return errors.New("transport: the *rest.Config is nil, but must be the one that clients are made from")
	case cfg.Transport != nil && hasTLS(cfg):
		return errors.New("transport: rest.Config.Transport and rest.Config.TLSClientConfig are both set, but client-go takes only one of them: " +
			"put the TLS settings into the Transport, or remove it")
	case IsWrapped(cfg):
		return errors.New("transport: the rest.Config, or the one it was copied from, is wrapped already: " +
			"wrap it once, and a fresh one for other settings")
	}
	return nil
}

// hasTLS is what client-go refuses beside a Transport (client-go 0.37,
// transport.New).
func hasTLS(cfg *rest.Config) bool {
	c := cfg.TLSClientConfig
	return c.Insecure || len(c.CAData) > 0 || c.CAFile != "" || len(c.CertData) > 0 || c.CertFile != "" || len(c.KeyData) > 0 || c.KeyFile != ""
}

// IsWrapped tells whether cfg, or the one it was copied from, was given to Wrap, and its
// Dial left alone since.
func IsWrapped(cfg *rest.Config) bool { return cfg != nil && isOurs(cfg.Dial) }

// isOurs tells whether a dial function is a dialer's method.
func isOurs(dial dialFunc) bool { return sameCode(dial, (&dialer{}).DialContext) }

// isClientGos tells whether a dial function is what client-go puts into a
// transport that it makes for us: ours, or its own around it, which rotates client
// certificates.
func isClientGos(dial dialFunc) bool {
	return isOurs(dial) || sameCode(dial, (&connrotation.Dialer{}).DialContext)
}

// sameCode tells whether two methods are the same, of whatever receivers.
func sameCode(a, b dialFunc) bool {
	return a != nil && reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// Recycle closes every connection, so that the next requests dial anew, and
// returns how many there were. Watches resume, those that have just brought their
// initial events within 3 s. Of the other requests under way, client-go sends reads
// again; writes fail, though they may have been done: it is for when nothing else
// helps.
func (t *Transport) Recycle() int {
	n := t.dialer.recycle()
	t.log.Info("Connections recycled", "connections", n)
	return n
}

// Start waits until ctx ends, and remembers it: requests that are answered with
// 401 while the process shuts down never lead to an exit. It needs to run for
// nothing else. It is a controller-runtime manager.Runnable.
func (t *Transport) Start(ctx context.Context) error {
	<-ctx.Done()
	t.unauthorized.shutdown()
	return nil
}

// NeedLeaderElection makes a manager start it at once.
func (t *Transport) NeedLeaderElection() bool { return false }
