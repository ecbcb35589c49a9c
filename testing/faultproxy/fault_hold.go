// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import "context"

// HoldHeaders passes requests on and withholds the response, headers first. Lifted, the response arrives as it is by then.
// Responses whose headers were delivered before the injection are not touched. Hits counts responses.
type HoldHeaders struct {
	// UntilFirstByte holds the headers back only until the body's first byte has come, as buffering proxies do: a watch on
	// a quiet resource seems not to answer.
	UntilFirstByte bool
}

func (HoldHeaders) appliesTo(*attributes) bool { return true }

func (f HoldHeaders) onResponse(ctx context.Context, ex *exchange, r *rule, b *body) error {
	ex.struck(r)
	if f.UntilFirstByte {
		b.first()
		return nil
	}
	return hold(ctx, r)
}

// HangList accepts lists and never answers; the API server does not see them. Lifted, they are sent on. Lists that wait
// for their headers at the injection hang, too. Hits counts lists.
type HangList struct{}

func (HangList) appliesTo(a *attributes) bool { return a.verb == verbList }

func (HangList) onRequest(ctx context.Context, ex *exchange, r *rule) error {
	ex.struck(r)
	return hold(ctx, r)
}

func (HangList) onResponse(ctx context.Context, _ *exchange, r *rule, _ *body) error {
	return hold(ctx, r)
}

// HoldOpen keeps watch streams open when the API server has ended them, whatever the reason: a stream past its timeout, in
// silence. Lifted, the end is passed on. Hits counts ends withheld.
type HoldOpen struct {
	// StripTimeout removes timeoutSeconds from new watches instead of withholding the end, so that they go on delivering
	// past the time the client asked for: a server that ignores it, and no stall at all. Hits then counts watches.
	StripTimeout bool
}

func (HoldOpen) appliesTo(a *attributes) bool { return a.verb == verbWatch }

func (f HoldOpen) plan(p *plan, _ *exchange, r *rule) {
	if !f.StripTimeout {
		p.holdOpen = r
	}
}

func (f HoldOpen) onAttach(ex *exchange, r *rule, open bool) {
	if f.StripTimeout && !open {
		ex.stripTimeout.Store(true)
		ex.struck(r)
	}
}
