// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

// openWatch begins a watch that ends at deadline. closeWatch must follow.
func (cl *cluster) openWatch(
	ctx context.Context, c *watchCache, sel selector, opts *internalversion.ListOptions, deadline time.Time,
) (*stream, error) {
	from, err := parseRV(opts.ResourceVersion)
	if err != nil {
		return nil, err
	}
	cl.mu.Lock()
	defer cl.mu.Unlock()
	s := &stream{
		cache:     c,
		selector:  sel,
		bookmarks: opts.AllowWatchBookmarks,
		deadline:  deadline,
		ready:     make(chan struct{}, 1),
	}
	if opts.ResourceVersion == "" {
		from = cl.store.rv
	}
	// The defaults of the options have turned them on for a watch without an RV, or from 0.
	initialEvents := ptr.Deref(opts.SendInitialEvents, false)
	if initialEvents {
		if err := cl.waitFresh(ctx, c, from); err != nil {
			return nil, err
		}
		s.beginWithState()
		cl.endInitialEvents(s)
	} else if err := s.beginWithHistory(from); err != nil {
		return nil, err
	}
	c.streams[s] = struct{}{}
	if f := cl.strike(stallNew, c.kind.GVR(), sel.namespace, ""); f != nil {
		f.silence(s)
	}
	if s.bookmarks {
		cl.bookmarks.begin(s, cl.clock.Now(), initialEvents)
	}
	return s, nil
}

// closeWatch ends a watch.
func (cl *cluster) closeWatch(s *stream) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	delete(s.cache.streams, s)
}

// beginWithState starts the stream with an event for each object in the watch cache.
func (s *stream) beginWithState() {
	s.after = s.cache.rv
	for _, obj := range cut(s.cache.objects, s.after, s.selector, 0, nil).items {
		s.push(frame{watch.Added, obj})
	}
}

// beginWithHistory starts the stream with what happened since an RV: since that of the watch cache if it is 0. It may
// be in the future: then nothing comes before that is reached.
func (s *stream) beginWithHistory(from uint64) error {
	if from == 0 {
		from = s.cache.rv
	}
	missed, ok := s.cache.since(from)
	if !ok {
		return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", from, s.cache.oldest))
	}
	s.after = from
	for _, ch := range missed {
		s.offer(ch)
		s.after = ch.rv
	}
	return nil
}

// endInitialEvents pushes the bookmark that ends the initial events, if the client takes bookmarks and no fault
// withholds it.
func (cl *cluster) endInitialEvents(s *stream) {
	kind := s.cache.kind
	if s.bookmarks && cl.strike(withholdInitialEnd, kind.GVR(), s.selector.namespace, "") == nil {
		s.push(bookmark(kind, s.cache.rv, true))
	}
}

// endWatch ends a watch whose time is up. A silenced one stays open: its client does not learn of the end either.
func (cl *cluster) endWatch(s *stream) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	s.end()
}
