// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Stream is a watch that is open, or a list or watch that has ended.
type Stream struct {
	GVR schema.GroupVersionResource
	// Namespace is empty for all of them.
	Namespace string
	// Since is when its request was sent.
	Since time.Time
	// Timeout is what the server was asked to end it after; 0 for a list.
	Timeout time.Duration
	// Answered is when its response began, by the wall clock; zero: not yet.
	Answered time.Time
	// Status is the HTTP status of the response; 0: there is none yet.
	Status int
	// Protocol is that of the response, such as "HTTP/2.0"; empty before it came.
	Protocol string
	// Local and Remote are the ends of its connection, as host:port; empty where
	// they are not known.
	Local, Remote string
	// Reused tells whether that connection had carried other requests before.
	Reused bool
	// LastByte is when it last brought something, by the wall clock; zero: never.
	LastByte time.Time
	// Bytes is how much it has brought, uncompressed.
	Bytes int64
}

// Streams returns the watches that are open, oldest first.
func (t *Transport) Streams() []Stream {
	var out []Stream
	for _, s := range t.streams.all() {
		if s.kind == watch {
			out = append(out, s.describe())
		}
	}
	slices.SortFunc(out, func(a, b Stream) int { return a.Since.Compare(b.Since) })
	return out
}

// EndStreams ends the watches of a resource as if by their timeout, and returns
// how many there were: their reflectors resume, and nothing is sent twice. It
// heals informers whose ListerWatcher is out of reach, as in generated
// factories. All of gvr has to match, version and plural resource included: 0 may
// mean a typing error.
func (t *Transport) EndStreams(gvr schema.GroupVersionResource) int {
	n := 0
	for _, s := range t.streams.all() {
		if s.kind == watch && s.path.GVR == gvr && s.tell(EndedAsked) {
			n++
		}
	}
	t.log.Info("Watches ended on request", "resource", gvr.String(), "watches", n)
	return n
}

func (s *stream) describe() Stream {
	out := Stream{
		GVR: s.path.GVR, Namespace: s.path.Namespace, Since: s.began, Timeout: s.timeout, Bytes: s.bytes.Load(),
		Status: int(s.status.Load()), Reused: s.reused.Load(),
	}
	if proto := s.proto.Load(); proto != nil {
		out.Protocol = *proto
	}
	if c := s.conn.Load(); c != nil {
		out.Local, out.Remote = addresses(c)
	}
	if at := s.answered.Load(); at != 0 {
		out.Answered = time.Unix(0, at)
	}
	if at := s.lastByte.Load(); at != 0 {
		out.LastByte = time.Unix(0, at)
	}
	return out
}
