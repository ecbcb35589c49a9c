// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package watchnote lets a transport tell whoever made a request's context what
// it sees and does below the client: what the request is about, and how long a
// watch will really last.
package watchnote

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Note is about one list or watch.
type Note struct {
	GVR       schema.GroupVersionResource
	Namespace string
	// Path is the request's, with its query.
	Path string
	// Timeout is what the server is asked to end the watch after; 0 for a list.
	Timeout time.Duration
}

type key struct{}

// With returns a context whose requests are reported to f, if they pass through
// a transport of this module. f is called before a request is sent, once for
// each time that client-go sends it.
func With(ctx context.Context, f func(Note)) context.Context {
	return context.WithValue(ctx, key{}, f)
}

// Tell passes a note to whoever asked for it.
func Tell(ctx context.Context, n Note) {
	if f, ok := ctx.Value(key{}).(func(Note)); ok {
		f(n)
	}
}
