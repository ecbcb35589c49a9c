// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers

import (
	"context"
	"errors"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/freshwatch/freshwatch/freshness"
)

// Servers asks the API servers of one cluster. Its methods are safe for concurrent
// use. It has no goroutine and no connection while nobody asks, so there is
// nothing to close.
type Servers struct {
	cfg    *rest.Config
	usual  string // host:port
	opts   Options
	roster *roster
	slots  chan struct{} // one value for each inquiry under way
}

var _ freshness.Servers = (*Servers)(nil)

// New returns the API servers of the cluster that cfg leads to. It sends no
// request; cfg is copied. A config that transport.Wrap was given is as good as one
// that it was not.
//
// The error names the field that is not valid, in opts or in cfg, which must lead
// to an https address, by client-go's own transport, and verify certificates:
// anybody could be at an address that was read from the cluster.
func New(cfg *rest.Config, opts Options) (*Servers, error) {
	usual, err := usualURL(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Insecure {
		return nil, errors.New("apiservers: rest.Config.Insecure is true, but must be false (the program's credentials are sent to addresses that others may write)")
	}
	if opts, err = opts.withDefaults(); err != nil {
		return nil, err
	}
	s := &Servers{cfg: rest.CopyConfig(cfg), usual: usual.Host, opts: opts, slots: make(chan struct{}, concurrentReads)}
	s.roster = newRoster(s.find, opts.Refresh)
	return s, nil
}

// WatchCaches returns where each API server's watch cache for a kind stands, in
// one namespace or, if that is empty, in all, sorted by address or in the order of
// Options.Addresses. Where the cluster names no API server it is the one behind
// the usual address. All are asked at once, ten at most, each over a connection of
// its own, which is closed afterwards.
//
// Each has been made to catch up before, if it can. So one whose resourceVersion is
// behind what the datastore had when WatchCaches was called, and at the same place
// when it is called again, is frozen; see the package's limits.
//
// What keeps one server from answering is its Err: a *RightsError where the kind
// must not be listed, an API error, a certificate, a connection, or a context's
// end. The error is about the addresses, as from Find, where none are known yet.
//
// It takes milliseconds in health and 3 s where a cache is frozen; at most
// Options.Timeout for every ten servers, as much again where addresses are read,
// and less if ctx ends.
func (s *Servers) WatchCaches(ctx context.Context, gvr schema.GroupVersionResource, namespace string) ([]freshness.ServerCache, error) {
	peers, err := s.peers(ctx)
	if err != nil {
		return nil, err
	}
	caches := make([]freshness.ServerCache, len(peers))
	var group sync.WaitGroup
	for i, p := range peers {
		group.Go(func() {
			rv, err := s.ask(ctx, p, gvr, namespace)
			caches[i] = freshness.ServerCache{Server: p.name, ResourceVersion: rv, Err: err}
		})
	}
	group.Wait()
	return caches, nil
}

// peer is an API server to ask.
type peer struct {
	name string // host:port
	cfg  *rest.Config
}

func (s *Servers) peers(ctx context.Context) ([]peer, error) {
	addresses := s.opts.Addresses
	if len(addresses) == 0 {
		var err error
		if addresses, err = s.roster.addresses(ctx, s.logger(ctx)); err != nil {
			return nil, err
		}
	}
	if len(addresses) == 0 {
		return []peer{{s.usual, s.cfg}}, nil
	}
	var peers []peer
	for _, address := range addresses {
		direct, err := At(s.cfg, address)
		if err != nil {
			return nil, err
		}
		peers = append(peers, peer{address, direct})
	}
	return peers, nil
}

func (s *Servers) find(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	return Find(ctx, s.cfg)
}

func (s *Servers) ask(ctx context.Context, p peer, gvr schema.GroupVersionResource, namespace string) (rv string, err error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	inquiry, err := inquire(p.cfg)
	if err != nil {
		return "", err
	}
	defer inquiry.end()
	return inquiry.watchCache(ctx, gvr, namespace)
}

func (s *Servers) logger(ctx context.Context) logr.Logger {
	if !s.opts.Logger.IsZero() {
		return s.opts.Logger
	}
	return klog.FromContext(ctx)
}
