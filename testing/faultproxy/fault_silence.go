// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

// Silence makes watch streams dead: from the injection on not one byte more is delivered, and no end either, while the
// stream stays open and the connection answers PINGs. What the API server sends is taken off its connection and lost.
//
// A stream that was silenced stays dead when the fault is lifted, until its client gives it up: that is what a dead stream
// is. Streams opened while it is in force get their headers and nothing else, unless OnlyOpen is set. Hits counts streams.
type Silence struct {
	// OnlyOpen leaves streams alone that are opened after the injection: one dead stream, and a new watch heals.
	OnlyOpen bool
}

func (Silence) appliesTo(a *attributes) bool { return a.verb == verbWatch }

func (s Silence) onlyOpen() bool { return s.OnlyOpen }

func (Silence) onAttach(ex *exchange, r *rule, _ bool) {
	ex.silence()
	ex.struck(r)
}
