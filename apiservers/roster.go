// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-logr/logr"
)

// roster knows the addresses, and reads them again when they are old.
type roster struct {
	find    func(context.Context) ([]string, error)
	refresh time.Duration

	turn   chan struct{} // a lock: holds one value while the fields below are in use
	read   bool          // they have been read
	readAt time.Time
	known  []string // none: the cluster does not tell
}

func newRoster(find func(context.Context) ([]string, error), refresh time.Duration) *roster {
	return &roster{find: find, refresh: refresh, turn: make(chan struct{}, 1)}
}

// addresses returns those of the API servers, and none where nobody tells. Callers
// that come while they are being read wait, until ctx ends.
func (r *roster) addresses(ctx context.Context, log logr.Logger) ([]string, error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if r.read && time.Since(r.readAt) < r.refresh {
		return r.known, nil
	}
	found, err := r.find(ctx)
	switch {
	case ctx.Err() != nil: // which says nothing about them
		return nil, ctx.Err()
	case errors.Is(err, ErrNotNamed):
		found = nil
	case err != nil && !r.read:
		return nil, err
	case err != nil:
		log.Error(err, "API servers cannot be read again, and stay those that were known", "servers", r.known)
		found = r.known
	}
	if !r.read || !slices.Equal(found, r.known) {
		report(log, found)
	}
	r.read, r.readAt, r.known = true, time.Now(), found
	return found, nil
}

// report says who will be asked, and what cannot be told from it.
func report(log logr.Logger, found []string) {
	switch len(found) {
	case 0:
		log.Info("EndpointSlice default/kubernetes names no API server: only the usual address is asked, and a frozen server behind it cannot be named")
	case 1:
		log.Info("Only one API server is known: where several stand behind its address, a frozen one cannot be named", "servers", found)
	default:
		log.Info("API servers are asked one by one", "servers", found)
	}
}
