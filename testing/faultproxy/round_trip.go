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
	ex := exchangeFrom(r.Context())
	ctx, cancel := context.WithCancel(r.Context())
	resp, err := before(ctx, ex)
	if resp == nil && err == nil {
		resp, err = p.send(r.WithContext(ctx))
	}
	if err != nil {
		cancel()
		return nil, err
	}
	b := newBody(ctx, cancel, ex, resp)
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
func before(ctx context.Context, ex *exchange) (*http.Response, error) {
	for _, rule := range ex.active() {
		if f, ok := rule.fault.(answerFault); ok {
			return f.answer(ex, rule), nil
		}
		if f, ok := rule.fault.(requestFault); ok {
			if err := f.onRequest(ctx, ex, rule); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}
