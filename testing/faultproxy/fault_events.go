// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"cmp"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// WithholdBookmarks drops BOOKMARK events from watch streams, all but the one that ends the initial events of a WatchList.
// Hits counts bookmarks.
type WithholdBookmarks struct{}

func (WithholdBookmarks) appliesTo(a *attributes) bool { return a.verb == verbWatch }

func (WithholdBookmarks) plan(p *plan, _ *exchange, r *rule) { p.filters = append(p.filters, r) }

func (WithholdBookmarks) drops(_ *rule, _ *exchange, pc *piece) bool {
	return pc.kind == string(watch.Bookmark) && !pc.endsInitialEvents()
}

// WithholdInitialEventsEnd drops the bookmark that ends the initial events of a WatchList: the client gets its objects and
// never learns that they are all. Bookmarks that come later pass. Hits counts bookmarks.
type WithholdInitialEventsEnd struct{}

func (WithholdInitialEventsEnd) appliesTo(a *attributes) bool { return a.verb == verbWatch }

func (WithholdInitialEventsEnd) plan(p *plan, _ *exchange, r *rule) { p.filters = append(p.filters, r) }

func (WithholdInitialEventsEnd) drops(_ *rule, _ *exchange, pc *piece) bool {
	return pc.endsInitialEvents()
}

// DropEvents loses single events from watch streams, while bookmarks carry the resourceVersion past them. What is lost
// stays lost when the fault is lifted. Hits counts events.
type DropEvents struct {
	// Types of the events, such as watch.Modified. Defaults to ADDED, MODIFIED and DELETED.
	Types []watch.EventType
	// N is how many events are lost, over all streams. Defaults to all until the fault is lifted.
	N int
	// Name restricts it to objects with this name.
	Name string
}

func (DropEvents) appliesTo(a *attributes) bool { return a.verb == verbWatch }

func (DropEvents) plan(p *plan, _ *exchange, r *rule) { p.filters = append(p.filters, r) }

func (f DropEvents) drops(r *rule, ex *exchange, pc *piece) bool {
	types := f.Types
	if len(types) == 0 {
		types = []watch.EventType{watch.Added, watch.Modified, watch.Deleted}
	}
	if !slices.Contains(types, watch.EventType(pc.kind)) {
		return false
	}
	if f.Name != "" && pc.framing.metadata(pc.raw).Name != f.Name {
		return false
	}
	return f.N == 0 || ex.conn.proxy.spend(r, f.N)
}

// ErrorEvent ends watch streams with an ERROR event inside of the stream, as the API server does when the history a client
// asks for is gone. It hits open streams at once and new ones after their headers. Hits counts streams.
type ErrorEvent struct {
	// Code is the HTTP status in the event's Status. Defaults to 410, with the reason Expired.
	Code int
	// Message defaults to what the API server says.
	Message string
}

func (ErrorEvent) appliesTo(a *attributes) bool { return a.verb == verbWatch }

func (ErrorEvent) plan(p *plan, _ *exchange, r *rule) { p.fail = r }

func (f ErrorEvent) status() metav1.Status {
	return Status{Code: cmp.Or(f.Code, http.StatusGone), Message: f.Message}.status()
}
