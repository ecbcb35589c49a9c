// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"context"
	"net/http"
)

// Fault is what the API proxy does to the requests it is aimed at: one of the types of this package that say so. A fault
// that acts on watches leaves other requests alone even where the Match selects them.
type Fault interface {
	appliesTo(*attributes) bool
}

// A fault has one or more of these faces, by where in a request's life it acts.
type (
	// attachFault acts when it meets a request: at the injection (open), or when the request arrives.
	attachFault interface {
		onAttach(ex *exchange, r *rule, open bool)
	}
	// requestFault keeps a request from being sent on for a while.
	requestFault interface {
		onRequest(ctx context.Context, ex *exchange, r *rule) error
	}
	// answerFault answers in place of the API server.
	answerFault interface {
		answer(ex *exchange, r *rule) *http.Response
	}
	// responseFault acts when the API server has answered, before the client sees anything of it.
	responseFault interface {
		onResponse(ctx context.Context, ex *exchange, r *rule, b *body) error
	}
	// bodyFault takes part in planning what happens to a body.
	bodyFault interface {
		plan(p *plan, ex *exchange, r *rule)
	}
	// eventFault drops single events.
	eventFault interface {
		drops(r *rule, ex *exchange, pc *piece) bool
	}
)

const (
	verbWatch = "watch"
	verbList  = "list"
)

// hold blocks until the fault has ended, and fails if ctx ends first.
func hold(ctx context.Context, r *rule) error {
	select {
	case <-r.inj.lifted:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
