// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// culpritGap is between searches for an object that cannot be decoded.
	culpritGap = 10 * time.Minute
	// culpritPages bounds one, to some 200,000 objects before the one, and the steps to
	// it.
	culpritPages = 400
)

// accuse begins the search for the object that cannot be decoded, where that is
// what keeps an informer from its contents. The caller holds the lock.
func (m *Monitor) accuse(ctx context.Context, t *tracked, o observation) {
	if o.stream.open && !o.stream.initial {
		t.culprit = ""
		return
	}
	if o.err == nil || diagnose(o.err) != causeUndecodable || t.accused.Add(culpritGap).After(o.now) {
		return
	}
	t.accused = o.now
	m.reads.Go(func() {
		name := m.findCulprit(ctx, t)
		m.mu.Lock()
		defer m.mu.Unlock()
		t.culprit = name
	})
}

// findCulprit lists the informer's objects in ever smaller pages until the one is
// alone that cannot be decoded. Its name comes from a list of metadata; without a
// client for that, it is known after which other it stands. Empty: none was found.
func (m *Monitor) findCulprit(ctx context.Context, t *tracked) string {
	opts, before := metav1.ListOptions{Limit: pageSize}, ""
	for range culpritPages {
		list, err := m.page(ctx, t.lw.inner.ListWithContext, opts)
		switch {
		case err == nil:
			if name := lastOf(list); name != "" {
				before = name
			}
			if opts.Continue = continueOf(list); opts.Continue == "" {
				return ""
			}
		case diagnose(err) != causeUndecodable:
			return ""
		case opts.Limit > 1:
			opts.Limit = (opts.Limit + 1) / 2
		default:
			return m.name(ctx, t, opts, before)
		}
		select {
		case <-m.clock.After(pagePause):
		case <-ctx.Done():
			return ""
		}
	}
	return ""
}

// name names the object on a page of one.
func (m *Monitor) name(ctx context.Context, t *tracked, opts metav1.ListOptions, before string) string {
	if m.opts.Metadata != nil {
		if list, err := m.page(ctx, t.lw.pages(m.opts.Metadata), opts); err == nil && lastOf(list) != "" {
			return "object " + lastOf(list)
		}
	}
	if before == "" {
		return "the first object"
	}
	return fmt.Sprintf("the object after %s", before)
}

// lastOf names the last object of a list: namespace/name.
func lastOf(list runtime.Object) (name string) {
	_ = meta.EachListItem(list, func(obj runtime.Object) error {
		if m, err := meta.Accessor(obj); err == nil {
			name = nameOf(m)
		}
		return nil
	})
	return name
}

func continueOf(list runtime.Object) string {
	m, err := meta.ListAccessor(list)
	if err != nil {
		return ""
	}
	return m.GetContinue()
}
