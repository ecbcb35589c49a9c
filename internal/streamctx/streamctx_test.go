// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package streamctx

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

type key struct{}

func TestContext(t *testing.T) {
	tests := []struct {
		name    string
		end     func(c *Context, cancelParent func())
		want    error
		expired bool
	}{
		{"expired", func(c *Context, _ func()) { c.Expire() }, context.DeadlineExceeded, true},
		{"parent ends", func(_ *Context, cancel func()) { cancel() }, context.Canceled, false},
		{"released", func(c *Context, _ func()) { c.Release() }, context.Canceled, false},
		{"the first end counts", func(c *Context, cancel func()) { c.Expire(); cancel(); c.Release() }, context.DeadlineExceeded, true},
		{"expiring after the parent's end changes nothing", func(c *Context, cancel func()) { cancel(); <-c.Done(); c.Expire() }, context.Canceled, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parent, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "v"))
				defer cancel()
				c := New(parent)
				if c.Err() != nil {
					t.Fatalf("Err() = %v before the end, want nil", c.Err())
				}
				child, cancelChild := context.WithCancelCause(c)
				defer cancelChild(nil)

				tt.end(c, cancel)
				<-child.Done()

				if !errors.Is(c.Err(), tt.want) || !errors.Is(child.Err(), tt.want) {
					t.Errorf("Err() = %v, child's = %v, want %v", c.Err(), child.Err(), tt.want)
				}
				if got := c.Expired(); got != tt.expired {
					t.Errorf("Expired() = %v, want %v", got, tt.expired)
				}
				if got := c.Value(key{}); got != "v" {
					t.Errorf("Value = %v, want the parent's", got)
				}
			})
		})
	}
}

// What the package stands on: client-go sees the end as a time-out, which
// StreamWatcher closes on without an error event.
func TestExpireReadsAsTimeout(t *testing.T) {
	c := New(t.Context())
	c.Expire()
	if !utilnet.IsTimeout(c.Err()) {
		t.Errorf("IsTimeout(%v) = false: client-go would send an error event and relist", c.Err())
	}
	c = New(t.Context())
	c.Release()
	if utilnet.IsTimeout(c.Err()) {
		t.Errorf("IsTimeout(%v) = true for a released context", c.Err())
	}
}
