// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// way is the way to one API server, with a proxy in each place where something can
// break:
//
//	informers -- front (TCP) -- api (TLS, HTTP) -- back (TCP) -- kube-apiserver
type way struct {
	front, back *faultproxy.TCP
	api         *faultproxy.API
}

// pave makes the ways.
func (s *scene) pave(l link) error {
	servers := s.servers
	if l.pinned && len(servers) == 1 {
		servers = append(slices.Clone(servers), servers[0])
	}
	var fronts []string
	for _, server := range servers {
		w, err := s.newWay(server, l)
		if err != nil {
			return err
		}
		s.ways = append(s.ways, w)
		fronts = append(fronts, w.front.Addr())
	}
	if len(fronts) == 1 {
		return nil
	}
	var err error
	if s.balancer, err = startBalancer(fronts...); err != nil {
		return err
	}
	s.closers = append(s.closers, s.balancer.close)
	return nil
}

func (s *scene) newWay(to server, l link) (*way, error) {
	w := &way{}
	var err error
	upstream := rest.CopyConfig(to.config)
	if l.perRequest {
		relay, err := faultproxy.NewAPI(upstream, faultproxy.APIOptions{HTTP1Only: true})
		if err != nil {
			return nil, err
		}
		s.closers = append(s.closers, relay.Close)
		upstream = relay.Config(upstream)
	}
	if w.back, err = faultproxy.NewTCP(strings.TrimPrefix(upstream.Host, "https://"), faultproxy.TCPOptions{}); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, w.back.Close)
	if w.api, err = faultproxy.NewAPI(upstream, faultproxy.APIOptions{Via: w.back.Addr()}); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, w.api.Close)
	if w.front, err = faultproxy.NewTCP(w.api.Addr(), faultproxy.TCPOptions{}); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, w.front.Close)
	return w, nil
}

// config is the informers' way in.
func (s *scene) config(agent string) (*rest.Config, error) {
	user, err := s.User(s.user)
	if err != nil {
		return nil, err
	}
	cfg := s.ways[0].api.Config(user)
	cfg.Host, cfg.CAData = "https://"+s.ways[0].front.Addr(), nil
	if s.balancer != nil {
		cfg.Host = "https://" + s.balancer.addr()
	}
	for _, w := range s.ways {
		cfg.CAData = append(cfg.CAData, w.api.CA()...)
	}
	cfg.UserAgent = agent
	return cfg, nil
}
