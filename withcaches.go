// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// WithCaches returns r as a manager has to be given it so that it runs from the moment at
// which the caches start, on every replica. Any other Runnable has to wait until they have
// synced (controller-runtime 0.25, pkg/manager/runnable_group.go). It is for a
// freshness.Monitor, which ends initial lists that never do:
//
//	err := mgr.Add(freshwatch.WithCaches(mgr.GetCache(), monitor))
//
// The manager stops it together with its caches, after its controllers.
func WithCaches(c cache.Cache, r manager.Runnable) manager.Runnable {
	return &withCaches{Runnable: r, cache: c}
}

type withCaches struct {
	manager.Runnable
	cache cache.Cache
}

// GetCache is what a manager knows runnables by that run with its caches.
func (w *withCaches) GetCache() cache.Cache { return w.cache }
