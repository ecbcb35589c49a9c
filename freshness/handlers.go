// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
)

// EventSource is what handlers are added to: a SharedIndexInformer, or
// controller-runtime's cache.Informer.
type EventSource interface {
	AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error)
	RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error
}

// AddEventHandler adds a handler to a monitored informer, as the informer's own
// method of that name does, and has it measured: a handler that blocks collects
// notifications without bound, while the cache stays perfect. One that has not
// returned for 30 s shows in Status as Behind, and one that has not for
// Options.FailAfter fails Check, since only a restart helps; so a handler must hand
// its work to a queue. controller-runtime's controllers do.
//
// It costs two atomic additions for each notification, and a second handler that
// counts them; removing the registration leaves that one behind until the informer
// stops. The error matches ErrNotMonitored if inf was not made by this monitor.
func (m *Monitor) AddEventHandler(inf EventSource, handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	if handler == nil {
		return nil, errors.New("freshness: AddEventHandler wants a handler, got nil")
	}
	m.mu.Lock()
	i := slices.IndexFunc(m.informers, func(t *tracked) bool { return t.is(inf) })
	var t *tracked
	if i >= 0 {
		t = m.informers[i]
	}
	m.mu.Unlock()
	if t == nil {
		return nil, fmt.Errorf("%w: AddEventHandler wants an informer made by this monitor, got a %T", ErrNotMonitored, inf)
	}
	h := &meteredHandler{inner: handler}
	counter, err := inf.AddEventHandler((*countingHandler)(h))
	if err != nil {
		return nil, err
	}
	registration, err := inf.AddEventHandler(h)
	if err != nil {
		return nil, errors.Join(err, inf.RemoveEventHandler(counter))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t.handlers = append(t.handlers, &handlerProgress{handler: h})
	return registration, nil
}

// is tells whether inf is this informer, or one of the wrappers that client-go's
// factories make of one: those have its store.
func (t *tracked) is(inf EventSource) bool {
	same, ok := inf.(interface{ GetStore() cache.Store })
	return ok && same.GetStore() == t.informer.GetStore()
}

// meteredHandler counts what its handler was told, and has done.
type meteredHandler struct {
	inner              cache.ResourceEventHandler
	sent, begun, ended atomic.Uint64
}

// OnAdd implements cache.ResourceEventHandler.
func (h *meteredHandler) OnAdd(obj any, isInInitialList bool) {
	h.begun.Add(1)
	defer h.ended.Add(1) // a panic may be survived
	h.inner.OnAdd(obj, isInInitialList)
}

// OnUpdate implements cache.ResourceEventHandler.
func (h *meteredHandler) OnUpdate(oldObj, newObj any) {
	h.begun.Add(1)
	defer h.ended.Add(1) // a panic may be survived
	h.inner.OnUpdate(oldObj, newObj)
}

// OnDelete implements cache.ResourceEventHandler.
func (h *meteredHandler) OnDelete(obj any) {
	h.begun.Add(1)
	defer h.ended.Add(1) // a panic may be survived
	h.inner.OnDelete(obj)
}

// countingHandler is told the same beside it, without delay.
type countingHandler meteredHandler

// OnAdd implements cache.ResourceEventHandler.
func (h *countingHandler) OnAdd(any, bool) { h.sent.Add(1) }

// OnUpdate implements cache.ResourceEventHandler.
func (h *countingHandler) OnUpdate(any, any) { h.sent.Add(1) }

// OnDelete implements cache.ResourceEventHandler.
func (h *countingHandler) OnDelete(any) { h.sent.Add(1) }

// handlerProgress is how one handler gets on, from look to look.
type handlerProgress struct {
	handler *meteredHandler
	ended   uint64
	busy    time.Duration // with one notification
	pending uint64
}

// handlers are those of one informer.
type handlers []*handlerProgress

// look notes how the handlers got on since the last look, elapsed ago. Of a time in
// which this process did not run, only what a look takes counts.
func (hs handlers) look(elapsed time.Duration) {
	for _, p := range hs {
		begun, ended := p.handler.begun.Load(), p.handler.ended.Load()
		switch {
		case begun <= ended:
			p.busy, p.pending = 0, 0 // perhaps it was removed: nothing that is sent to it counts
		case ended != p.ended:
			p.busy, p.pending = 0, p.handler.sent.Load()-min(ended, p.handler.sent.Load())
		default:
			p.busy += min(elapsed, 2*tick)
			p.pending = p.handler.sent.Load() - min(ended, p.handler.sent.Load())
		}
		p.ended = ended
	}
}

// blocked is for how long the slowest handler has been busy with one notification.
func (hs handlers) blocked() (longest time.Duration) {
	for _, p := range hs {
		longest = max(longest, p.busy)
	}
	return longest
}

// pending is how many notifications wait for handlers that are busy.
func (hs handlers) pending() (n uint64) {
	for _, p := range hs {
		n += p.pending
	}
	return n
}
