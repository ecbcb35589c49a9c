// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package streamctx

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
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

// A child ends with its parent, and costs no goroutine, which is what net/http
// makes of a request's context.
func TestChildCostsNoGoroutine(t *testing.T) {
	c := New(t.Context())
	before := runtime.NumGoroutine()
	child, cancel := context.WithCancel(c)
	defer cancel()
	if got := runtime.NumGoroutine(); got > before {
		t.Errorf("a child costs %d goroutines, want none", got-before)
	}
	gone, cancelGone := context.WithCancel(c)
	cancelGone()
	if len(c.after) != 1 {
		t.Errorf("%d children are waited for after one of two has ended, want 1", len(c.after))
	}
	c.Expire()
	<-child.Done()
	<-gone.Done()
	if !errors.Is(child.Err(), context.DeadlineExceeded) {
		t.Errorf("the child ended with %v, want %v", child.Err(), context.DeadlineExceeded)
	}
}

func TestAfterFunc(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(t.Context())
		var ran []string
		c.AfterFunc(func() { ran = append(ran, "waited") })
		if stop := c.AfterFunc(func() { ran = append(ran, "stopped") }); !stop() || stop() {
			t.Error("stop: want true the first time and false the second")
		}
		c.Release()
		synctest.Wait()
		stop := c.AfterFunc(func() { ran = append(ran, "late") })
		synctest.Wait()
		if stop() {
			t.Error("stop = true after the end, want false")
		}
		if diff := cmp.Diff([]string{"waited", "late"}, ran); diff != "" {
			t.Errorf("functions that ran (-want +got):\n%s", diff)
		}
	})
}
