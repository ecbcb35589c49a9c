// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// edit gives an object a content, or makes it, as somebody else.
func edit(ctx context.Context, t *testing.T, p *realplane.Plane, ns, name, content string) {
	t.Helper()
	cm := applycorev1.ConfigMap(name, ns).WithData(map[string]string{"content": content})
	if _, err := p.Typed.CoreV1().ConfigMaps(ns).Apply(ctx, cm, metav1.ApplyOptions{FieldManager: "someone-else"}); err != nil {
		t.Errorf("edit of %s: %v", name, err)
	}
}

// until waits for what happens at once on an idle machine.
func until(t *testing.T, cond func() bool) bool {
	t.Helper()
	return poll.Until(t.Context(), patience, cond)
}

// customers are the other objects of the kind: each is edited again once its edit was
// reconciled.
type customers struct {
	stop  func()
	mu    sync.Mutex
	waits []wait
}

// wait is one edit and its reconcile.
type wait struct {
	of             string
	edited, served time.Time // served is zero for one that was not
}

const customersAtOnce = 3

// serve lets customers edit until the test ends, or stop is called.
func (o *operator) serve(t *testing.T, p *realplane.Plane, by *worker) *customers {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &customers{}
	var wg sync.WaitGroup
	for i := range customersAtOnce {
		wg.Go(func() { c.edit(ctx, t, p, o.ns, fmt.Sprintf("customer-%d", i), by) })
	}
	c.stop = func() {
		cancel()
		wg.Wait()
	}
	t.Cleanup(c.stop)
	return c
}

func (c *customers) edit(ctx context.Context, t *testing.T, p *realplane.Plane, ns, name string, by *worker) {
	for n := 0; ctx.Err() == nil; n++ {
		w := wait{of: name, edited: time.Now()}
		edit(context.WithoutCancel(ctx), t, p, ns, name, strconv.Itoa(n))
		poll.Until(ctx, time.Hour, func() bool {
			w.served = by.sawAt(name, strconv.Itoa(n))
			return !w.served.IsZero()
		})
		c.mu.Lock()
		c.waits = append(c.waits, w)
		c.mu.Unlock()
	}
}

// all returns the edits that are over, one way or the other.
func (c *customers) all() []wait {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.waits)
}

// longest returns the longest that an edit has waited since begin, and how many were
// reconciled. Edits that were not have waited until now.
func (c *customers) longest(begin time.Time) (longest time.Duration, served int) {
	for _, w := range c.all() {
		end := w.served
		switch {
		case end.IsZero():
			end = time.Now()
		case end.Before(begin):
			continue
		default:
			served++
		}
		longest = max(longest, end.Sub(w.edited))
	}
	return longest, served
}

// servedSince tells whether edits of each customer were reconciled since.
func (c *customers) servedSince(begin time.Time) bool {
	served := map[string]bool{}
	for _, w := range c.all() {
		if w.served.After(begin) {
			served[w.of] = true
		}
	}
	return len(served) == customersAtOnce
}
