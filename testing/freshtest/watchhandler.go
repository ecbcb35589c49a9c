// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/watch"
)

// minWatchTimeout is what a watch without timeoutSeconds lasts at least; at most it lasts twice as long
// (--min-request-timeout of kube-apiserver).
const minWatchTimeout = 30 * time.Minute

// watchEvent is an event on the wire.
type watchEvent struct {
	Type   watch.EventType `json:"type"`
	Object any             `json:"object"`
}

// watch serves a watch until its timeout, or until the client or the server goes away.
func (c call) watch(w http.ResponseWriter, r *http.Request, opts *internalversion.ListOptions, sel selector) error {
	timeout := time.Duration(float64(minWatchTimeout) * (1 + rand.Float64()))
	if opts.TimeoutSeconds != nil && *opts.TimeoutSeconds > 0 {
		timeout = time.Duration(*opts.TimeoutSeconds) * time.Second
	}
	timer := c.cl.clock.NewTimer(timeout)
	defer timer.Stop()
	stream, err := c.cl.openWatch(r.Context(), c.cache, sel, opts, c.cl.clock.Now().Add(timeout))
	if err != nil {
		c.writeWatchError(w, err)
		return nil
	}
	defer c.cl.closeWatch(stream)

	out := newEventWriter(w)
	out.begin()
	for {
		c.cl.mu.Lock()
		frames, last := stream.take()
		c.cl.mu.Unlock()
		for _, f := range frames {
			if !out.write(watchEvent{f.event, c.form.object(f.obj)}) {
				return nil
			}
		}
		if last {
			return nil
		}
		select {
		case <-stream.ready:
		case <-timer.C():
			c.cl.endWatch(stream)
		case <-r.Context().Done():
			return nil
		case <-c.cl.done:
			return nil
		}
	}
}

// writeWatchError answers a watch with an error as kube-apiserver does once it has accepted the request: 200, and an
// event that holds the error.
func (s *Server) writeWatchError(w http.ResponseWriter, err error) {
	out := newEventWriter(w)
	out.begin()
	out.write(watchEvent{watch.Error, statusOf(err)})
}

// eventWriter writes events, each of which leaves at once.
type eventWriter struct {
	w       http.ResponseWriter
	encoder *json.Encoder
	flush   func() error
}

func newEventWriter(w http.ResponseWriter) *eventWriter {
	return &eventWriter{w: w, encoder: json.NewEncoder(w), flush: http.NewResponseController(w).Flush}
}

// begin sends the headers.
func (e *eventWriter) begin() {
	e.w.Header().Set("Content-Type", "application/json")
	e.w.WriteHeader(http.StatusOK)
	_ = e.flush() // that the client is gone shows in the request's context
}

// write sends an event and reports whether the client is still there.
func (e *eventWriter) write(event watchEvent) bool {
	return e.encoder.Encode(event) == nil && e.flush() == nil
}
