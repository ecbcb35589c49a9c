// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Request is a request that the server received.
type Request struct {
	// Time is when it arrived, by the server's clock.
	Time time.Time
	// Verb is as in RBAC: get, list, watch, create, update, patch, delete or deletecollection.
	Verb string
	// GVR is the resource; empty for what is none, such as discovery.
	GVR schema.GroupVersionResource
	// Namespace and Name are those of the path; empty where it has none.
	Namespace, Name string
	// Subresource is the path behind the name, such as "status".
	Subresource string
	// Path is the path of the URL, Proto the protocol, such as "HTTP/2.0".
	Path, Proto string
	// ResourceVersion and ResourceVersionMatch are as sent.
	ResourceVersion, ResourceVersionMatch string
	// TimeoutSeconds and Limit are as sent; 0 if they were not.
	TimeoutSeconds, Limit int64
	// SendInitialEvents says whether a watch asked for them.
	SendInitialEvents bool
	// Code is the HTTP status; 0 as long as there has been no answer. Errors within a watch, such as 410, come as an
	// event in a stream with code 200, as from kube-apiserver.
	Code int
}

func newRequest(now time.Time, t target, r *http.Request, query url.Values) Request {
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(query.Get(name), 10, 64) // what is no number is refused later
		return n
	}
	return Request{
		Time:                 now,
		Verb:                 t.verb,
		GVR:                  t.gvr,
		Namespace:            t.namespace,
		Name:                 t.name,
		Subresource:          t.subresource,
		Path:                 r.URL.Path,
		Proto:                r.Proto,
		ResourceVersion:      query.Get("resourceVersion"),
		ResourceVersionMatch: query.Get("resourceVersionMatch"),
		TimeoutSeconds:       number("timeoutSeconds"),
		Limit:                number("limit"),
		SendInitialEvents:    query.Get("sendInitialEvents") == "true",
	}
}

// requestLog is what the server has received, in order of arrival.
type requestLog struct {
	mu       sync.Mutex
	requests []*Request
}

// add records a request and returns a function that records the code of its answer.
func (l *requestLog) add(r Request) (answered func(code int)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = append(l.requests, &r)
	return func(code int) {
		l.mu.Lock()
		defer l.mu.Unlock()
		r.Code = code
	}
}

func (l *requestLog) copy() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	requests := make([]Request, len(l.requests))
	for i, r := range l.requests {
		requests[i] = *r
	}
	return requests
}

// Log returns every request that the server has received, in order of arrival, refused ones included.
func (s *Server) Log() []Request { return s.log.copy() }

// Requests returns how many requests the server has received for a resource and a verb (see Request.Verb), refused ones
// included. An empty gvr counts all resources, an empty verb all verbs.
func (s *Server) Requests(gvr schema.GroupVersionResource, verb string) int {
	n := 0
	for _, r := range s.log.copy() {
		if (gvr.Empty() || r.GVR == gvr) && (verb == "" || r.Verb == verb) {
			n++
		}
	}
	return n
}
