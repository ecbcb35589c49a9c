// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

const (
	// population is how many objects a relist would send.
	population = 20
	// promise is how long after a fault an edit is in the cache at the latest,
	// where the guard can do anything about the fault.
	promise = 75 * time.Second
	// slack lets what takes longer end, so that it can be told by how much.
	slack = 25 * time.Second
	// recovery bounds the return to Fresh after a fault: one period and a cure.
	recovery = 100 * time.Second
	// longer is how much longer than the guarded informer needed the stock one is
	// given.
	longer = 30 * time.Second

	edited        = "object-0"     // what is edited once the fault is there
	before, after = "pink", "blue" // both are base64 as well, which Secrets want
)

// scenario is a fault and what has to come of it, on whichever server.
type scenario struct {
	name    string
	kind    kind
	options freshness.Options

	// quiet: there are no objects, and nobody makes any.
	quiet bool
	// client is how the informers read.
	client reader
	// early: the fault is there before the informers are. Otherwise it comes right
	// after a proof, which is when it takes longest to notice.
	early bool
	// disruptive: the fault hits everybody on the server.
	disruptive bool

	// prepare, if there is anything to, comes shortly before the fault.
	prepare func(backend, testing.TB)
	// fault makes the fault. nil: none.
	fault func(backend, testing.TB) (lift func())
	// hold is how long the fault lasts, and untilNamed counts that from when the
	// guard has reached the first verdict of want.reaches. Zero: it lasts for ever.
	// Without a fault hold is how long the guard is looked at.
	hold       time.Duration
	untilNamed bool

	want expectation
}
