// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

// frame is one event of a watch, as it goes to the client.
type frame struct {
	event watch.EventType
	obj   *unstructured.Unstructured
}

// stream is one open watch. The cluster's lock guards it, except for what never changes.
type stream struct {
	cache     *watchCache
	selector  selector
	bookmarks bool          // the client asked for them
	deadline  time.Time     // when the server ends it
	ready     chan struct{} // has a value when there is something to take

	// after is the RV up to which the stream began complete. Neither events nor bookmarks at or before it are sent; that
	// it stays where it is, and does not follow what is delivered, is why kube-apiserver repeats the bookmark of a cache
	// that no longer moves, but sends none to a watch that began at that very RV.
	after uint64

	pending []frame
	ended   bool // what is pending is the last
	stalls  int  // how many faults silence it
}

// push adds a frame for the client. What happens after the end is not for it.
func (s *stream) push(f frame) {
	if !s.ended {
		s.pending = append(s.pending, f)
		s.wake()
	}
}

// end ends the stream once what is pending has been sent.
func (s *stream) end() {
	s.ended = true
	s.wake()
}

func (s *stream) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// take returns what is to be sent now, and whether that is the end. A silenced stream has neither.
func (s *stream) take() (frames []frame, last bool) {
	if s.stalls > 0 {
		return nil, false
	}
	frames, s.pending = s.pending, nil
	return frames, s.ended
}

// offer pushes a change as the event that it is for this stream, if it is one.
func (s *stream) offer(ch change) {
	if ch.rv <= s.after {
		return
	}
	if f, ok := s.translate(ch); ok {
		s.push(f)
	}
}

// translate makes an event of a change. An object that begins to match the selector is added, one that ceases to is
// deleted; the object of a deletion is the last that matched, with the RV of the deletion.
func (s *stream) translate(ch change) (frame, bool) {
	is, was := s.selector.matches(ch.obj), s.selector.matches(ch.prev)
	switch {
	case is && was:
		return frame{watch.Modified, ch.obj}, true
	case is:
		return frame{watch.Added, ch.obj}, true
	case was:
		gone := ch.prev.DeepCopy()
		gone.SetResourceVersion(formatRV(ch.rv))
		return frame{watch.Deleted, gone}, true
	default:
		return frame{}, false
	}
}

// bookmark makes a bookmark of the kind. initialEnd marks it as the end of the initial events.
func bookmark(kind Kind, rv uint64, initialEnd bool) frame {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(kind.GVK())
	obj.SetResourceVersion(formatRV(rv))
	if initialEnd {
		obj.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return frame{watch.Bookmark, obj}
}
