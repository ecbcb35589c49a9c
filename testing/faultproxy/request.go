// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"slices"
	"time"
)

// Request describes one request that went through an API proxy.
type Request struct {
	// ID numbers the requests of one proxy from 1, in the order of arrival.
	ID    uint64
	Start time.Time
	// Open says that the request is not over; Duration is how long it took, or has taken so far.
	Open     bool
	Duration time.Duration
	// FirstByte and LastByte are when the body's first and newest bytes were delivered, since Start; 0 if there were none.
	FirstByte, LastByte time.Duration

	Method, Path string
	// Verb, and what follows, as in Match. Group is empty for the core group.
	Verb, Group, Version             string
	Resource, Subresource, Namespace string
	Name                             string
	User, UserAgent                  string
	// Protocol is HTTP/2.0 or HTTP/1.1, Client the address of the client's end of the connection.
	Protocol, Client string

	ResourceVersion, ResourceVersionMatch string
	FieldSelector, LabelSelector          string
	Continue                              string
	Limit, TimeoutSeconds                 int64
	SendInitialEvents, AllowBookmarks     bool

	// Status is the HTTP status, 0 as long as there is none.
	Status int
	// BytesUp and BytesDown count bodies, not headers. They are never compressed: the proxy does not ask for it.
	BytesUp, BytesDown int64
	// Objects are the items in a list's body, InitialObjects the ADDED events of a watch that come before the end of the
	// initial events it asked for. Events are all the others but Bookmarks. What a fault withheld is not counted.
	Objects, InitialObjects, Events, Bookmarks int64
	// Faults are those that acted on it.
	Faults []string
}

func (ex *exchange) snapshot() Request {
	r := Request{
		ID: ex.id, Start: ex.start,
		FirstByte: time.Duration(ex.firstNano.Load()), LastByte: time.Duration(ex.lastNano.Load()),
		Duration: time.Duration(ex.endNano.Load()),
		Method:   ex.method, Path: ex.path, Verb: ex.verb, Group: ex.group, Version: ex.version,
		Resource: ex.resource, Subresource: ex.subresource, Namespace: ex.namespace, Name: ex.name,
		User: ex.user, UserAgent: ex.userAgent, Protocol: ex.protocol, Client: ex.conn.conn.RemoteAddr().String(),
		ResourceVersion: ex.query.resourceVersion, ResourceVersionMatch: ex.query.resourceVersionMatch,
		FieldSelector: ex.query.fieldSelector, LabelSelector: ex.query.labelSelector, Continue: ex.query.continueToken,
		Limit: ex.query.limit, TimeoutSeconds: ex.query.timeoutSeconds,
		SendInitialEvents: ex.query.sendInitialEvents, AllowBookmarks: ex.query.allowBookmarks,
		Status: int(ex.status.Load()), BytesUp: ex.up.Load(), BytesDown: ex.down.Load(),
		Objects: ex.objects.Load(), InitialObjects: ex.initial.Load(),
		Events: ex.events.Load(), Bookmarks: ex.bookmarks.Load(),
	}
	if r.Duration == 0 {
		r.Open, r.Duration = true, time.Since(ex.start)
	}
	ex.mu.Lock()
	r.Faults = slices.Clone(ex.faults)
	ex.mu.Unlock()
	return r
}
