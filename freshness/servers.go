// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Servers asks each API server behind one address. *apiservers.Servers is one.
type Servers interface {
	// WatchCaches returns where each server's watch cache for a kind stands, and an
	// error only where the servers themselves are not known. It returns soon after
	// ctx ends.
	WatchCaches(ctx context.Context, gvr schema.GroupVersionResource, namespace string) ([]ServerCache, error)
}

// ServerCache is where one API server's watch cache for a kind stands.
type ServerCache struct {
	// Server is host:port.
	Server string
	// ResourceVersion is what a LIST from the cache as it is was at; empty if Err is
	// set.
	ResourceVersion string
	// Err is why this server did not answer.
	Err error
}
