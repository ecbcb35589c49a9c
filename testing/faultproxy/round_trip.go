// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"context"
	"net/http"
)

// roundTrip lets a request run the gauntlet: the faults that act before it is sent, the API server, those that act on the
// headers, and a body that heeds those that act on streams.
func (p *API) roundTrip(r *http.Request) (*http.Response, error) {
	ctx, ex := r.Context(), exchangeFrom(r.Context())
	resp, err := p.before(ctx, ex)
	if err != nil {
		return nil, err
	}
	if resp == nil {
		if resp, err = p.send(r); err != nil {
			return nil, err
		}
	}
	b := newBody(ctx, ex, resp)
	for _, rule := range ex.active() {
		f, ok := rule.fault.(responseFault)
		if !ok {
			continue
		}
		if err := f.onResponse(ctx, ex, rule, b); err != nil {
			_ = b.Close()
			return nil, err
		}
	}
	ex.setStatus(resp.StatusCode)
	out := *resp
	out.Body = b
	return &out, nil
}

// before runs the faults that act on requests. A response means that the API server is not asked.
func (p *API) before(ctx context.Context, ex *exchange) (*http.Response, error) {
	for _, rule := range ex.active() {
		f, ok := rule.fault.(requestFault)
		if !ok {
			continue
		}
		resp, err := f.onRequest(ctx, ex, rule)
		if resp != nil || err != nil {
			return resp, err
		}
	}
	return nil, nil //nolint:nilnil // no fault answers in place of the API server
}
