// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// meter measures requests where they are sent: how many there are, for servers
// without a proxy that counts them where they arrive, and how long proofs take.
type meter struct {
	mu   sync.Mutex
	cost map[string]cost // by user agent
}

// cost is what one client has asked for.
type cost struct {
	requests int64
	refills  int64 // those of them that fetch everything
	// slowest is the longest that a read which proves, and succeeds, has taken.
	slowest time.Duration
}

// watch has the requests of a client measured.
func (m *meter) watch(cfg *rest.Config, agent string) *rest.Config {
	cfg.UserAgent = agent
	cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			q := r.URL.Query()
			list, proof := q.Get("watch") == "", q.Get("limit") == "1"
			refill := q.Get("sendInitialEvents") == "true" || list && !proof
			m.change(agent, func(c *cost) {
				c.requests++
				if refill {
					c.refills++
				}
			})
			begin := time.Now()
			resp, err := rt.RoundTrip(r)
			if proof && err == nil && resp.StatusCode == http.StatusOK {
				m.change(agent, func(c *cost) { c.slowest = max(c.slowest, time.Since(begin)) })
			}
			return resp, err
		})
	})
	return cfg
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (m *meter) change(agent string, do func(*cost)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cost == nil {
		m.cost = map[string]cost{}
	}
	c := m.cost[agent]
	do(&c)
	m.cost[agent] = c
}

func (m *meter) of(agent string) cost {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cost[agent]
}

func (m *meter) requests(agent string) int64 { return m.of(agent).requests }

// refilled takes it that every refill sends all objects of a scenario.
func (m *meter) refilled(agent string) int64 { return m.of(agent).refills * population }

func (m *meter) slowestProof(agent string) time.Duration { return m.of(agent).slowest }
