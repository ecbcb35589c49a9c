// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"net/http"
	"slices"
	"time"
)

// begin registers a request and the faults that are to hit it. It returns nil if the proxy is closed.
func (p *API) begin(c *clientConn, r *http.Request) *exchange {
	ex := &exchange{
		attributes: parseAttributes(r, p.opts.Users), conn: c, protocol: r.Proto, start: time.Now(),
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.wg.Add(1)
	p.lastID++
	ex.id = p.lastID
	ex.series = p.seriesLocked(ex.attributes)
	ex.series.requests.Add(1)
	ex.series.open.Add(1)
	p.live[ex.id] = ex
	p.requests.add(ex)
	for _, rule := range p.rules {
		if rule.admits(ex) {
			strike(ex, rule, false)
		}
	}
	return ex
}

func (p *API) end(ex *exchange) {
	ex.endNano.Store(ex.since())
	ex.series.open.Add(-1)
	ex.series.countStatus(int(ex.status.Load()))
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.live, ex.id)
	p.wg.Done()
}

func (p *API) liveLocked() []*exchange {
	out := make([]*exchange, 0, len(p.live))
	for _, ex := range p.live {
		out = append(out, ex)
	}
	slices.SortFunc(out, func(a, b *exchange) int { return int(a.id) - int(b.id) })
	return out
}

// Requests lists the requests that m selects, oldest first, those under way included. Only the newest
// APIOptions.RequestLimit requests are remembered.
func (p *API) Requests(m Match) []Request {
	p.mu.Lock()
	all := p.requests.all()
	p.mu.Unlock()
	var out []Request
	for _, ex := range all {
		if m.matches(ex.attributes) {
			out = append(out, ex.snapshot())
		}
	}
	return out
}

// Counts sums up all requests since the start of the proxy that m selects. Where more than 10,000 different combinations of
// verb, resource, namespace, name, user and user agent were seen, later ones are counted without namespace and name.
func (p *API) Counts(m Match) Counts {
	p.mu.Lock()
	all := make([]*series, 0, len(p.series))
	for _, s := range p.series {
		if m.matches(&s.attributes) {
			all = append(all, s)
		}
	}
	p.mu.Unlock()
	var c Counts
	for _, s := range all {
		s.addTo(&c)
	}
	return c
}

func (p *API) seriesLocked(a *attributes) *series {
	key := keyOf(a)
	if s := p.series[key]; s != nil {
		return s
	}
	if len(p.series) >= seriesLimit {
		key.namespace, key.name, key.path = "", "", ""
		if s := p.series[key]; s != nil {
			return s
		}
	}
	s := &series{attributes: key.attributes()}
	p.series[key] = s
	return s
}
