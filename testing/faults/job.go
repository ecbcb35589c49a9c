// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// job describes the informers of a row and their guard, so that another process
// can run them, too.
type job struct {
	Kind       kind
	Namespaces []string // one guarded informer each; the stock one is for the first

	// Transport guards the connections of the guarded informers as well.
	Transport bool
	// MaxWatch is the transport's, if set.
	MaxWatch time.Duration
	// HTTP1 has all informers speak HTTP/1.1.
	HTTP1 bool
	// ListFirst has them list rather than stream initial events.
	ListFirst bool
	// Typed has them decode into a Go type.
	Typed bool
	// WatchFor is the timeout that they ask of the server for a watch; zero: what
	// client-go's reflector asks for.
	WatchFor time.Duration
	// PerEvent is what the guarded informer's handler takes for one.
	PerEvent time.Duration

	// MaxStaleness and SyncTimeout are the guard's; zero: their defaults.
	MaxStaleness, SyncTimeout time.Duration
	// Unguarded has the monitor watch only. The informers are stock in effect.
	Unguarded bool

	// change, if set, has the last word on the guard's options. It does not reach
	// another process.
	change func(*freshness.Options)
}
