// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"fmt"
	"net/http/httptrace"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/freshwatch/freshwatch/internal/apipath"
	"github.com/freshwatch/freshwatch/internal/watchnote"
)

// Whose request it is: the informer's own, which has its selectors, or one to prove it.
const own, toProve = true, false

// learn adds to ctx what reads what the client's closures keep to themselves: the
// resource and namespace, off the request's path, and, into *on, the connection that it
// is sent on. The path is known with HTTP/2, or from package transport;
// with HTTP/1.1 alone the names stay guesses. That package also asks the server for
// shorter watches than the reflector did, and says so for the watch with *id. The
// lock guards *on; *id is set before a request is sent.
func (l *listerWatcher) learn(ctx context.Context, informers bool, on *sentOn, id *uint64) context.Context {
	ctx = watchnote.With(ctx, func(n watchnote.Note) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.gvr, l.ns = n.GVR, n.Namespace
		if sel, ok := apipath.SelectorsOf(n.Path); ok && informers {
			l.selectors = &sel
		}
		if id != nil && l.current.id == *id && n.Timeout != 0 {
			l.current.timeout = n.Timeout
		}
	})
	trace := &httptrace.ClientTrace{
		WroteHeaderField: func(key string, value []string) {
			if key != ":path" || len(value) != 1 {
				return
			}
			if p, ok := apipath.Parse(value[0]); ok {
				l.mu.Lock()
				l.gvr, l.ns = p.GVR, p.Namespace
				if sel, ok := apipath.SelectorsOf(value[0]); ok && informers {
					l.selectors = &sel
				}
				l.mu.Unlock()
			}
		},
	}
	if on != nil {
		trace.GotConn = func(info httptrace.GotConnInfo) {
			got := sentOnConn(info)
			l.mu.Lock()
			*on = got
			if id != nil && l.current.id == *id {
				l.current.ends = got.ends // of one whose headers never come, too
			}
			l.mu.Unlock()
		}
	}
	return httptrace.WithClientTrace(ctx, trace)
}

// sentOn is the connection that a request was sent on.
type sentOn struct {
	conn string // its identity; its addresses may be another's later on, or nil
	ends
}

func sentOnConn(info httptrace.GotConnInfo) sentOn {
	got := sentOn{conn: fmt.Sprintf("%p", info.Conn), ends: ends{reused: info.Reused}}
	if a := info.Conn.LocalAddr(); a != nil {
		got.local = a.String()
	}
	if a := info.Conn.RemoteAddr(); a != nil {
		got.remote = a.String()
	}
	return got
}

// connOf returns what a request was sent on; one that has failed may still be told.
func (l *listerWatcher) connOf(on *sentOn) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return on.conn
}

// asked tells whether the informer has sent a request.
func (l *listerWatcher) asked() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.tried.IsZero()
}

// resource returns what learn has seen.
func (l *listerWatcher) resource() (schema.GroupVersionResource, string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gvr, l.ns, l.gvr.Resource != ""
}
