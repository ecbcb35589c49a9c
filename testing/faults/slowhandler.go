// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
)

// slowHandler takes its time for each notification, or blocks on it.
type slowHandler struct {
	perEvent time.Duration
	handled  atomic.Int64

	mu      sync.Mutex
	blocked chan struct{} // nil: it is not
}

var _ cache.ResourceEventHandler = (*slowHandler)(nil)

// OnAdd implements cache.ResourceEventHandler.
func (h *slowHandler) OnAdd(any, bool) { h.handle() }

// OnUpdate implements cache.ResourceEventHandler.
func (h *slowHandler) OnUpdate(any, any) { h.handle() }

// OnDelete implements cache.ResourceEventHandler.
func (h *slowHandler) OnDelete(any) { h.handle() }

func (h *slowHandler) handle() {
	defer h.handled.Add(1)
	h.mu.Lock()
	blocked := h.blocked
	h.mu.Unlock()
	if blocked != nil {
		<-blocked
	}
	if h.perEvent > 0 {
		timer := time.NewTimer(h.perEvent)
		defer timer.Stop()
		<-timer.C
	}
}

// block makes the next notifications wait until release.
func (h *slowHandler) block() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.blocked == nil {
		h.blocked = make(chan struct{})
	}
}

func (h *slowHandler) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.blocked != nil {
		close(h.blocked)
		h.blocked = nil
	}
}
