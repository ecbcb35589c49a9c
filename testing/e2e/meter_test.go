// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"sync"

	"k8s.io/client-go/rest"
)

// meter counts requests where they are sent, for servers without a proxy that
// counts them where they arrive.
type meter struct {
	mu   sync.Mutex
	cost map[string]cost // by user agent
}

// cost is what one client has asked for.
type cost struct {
	requests int64
	refills  int64 // those of them that fetch everything
}

// watch has the requests of a client counted.
func (m *meter) watch(cfg *rest.Config, agent string) *rest.Config {
	cfg.UserAgent = agent
	cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			m.count(r, agent)
			return rt.RoundTrip(r)
		})
	})
	return cfg
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (m *meter) count(r *http.Request, agent string) {
	q := r.URL.Query()
	list := q.Get("watch") == "" && q.Get("limit") != "1" // with limit=1 it is a proof
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cost == nil {
		m.cost = map[string]cost{}
	}
	c := m.cost[agent]
	c.requests++
	if list || q.Get("sendInitialEvents") == "true" {
		c.refills++
	}
	m.cost[agent] = c
}

func (m *meter) requests(agent string) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cost[agent].requests
}

// refilled takes it that every refill sends all objects of a scenario.
func (m *meter) refilled(agent string) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cost[agent].refills * population
}
