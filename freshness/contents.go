// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata"
)

const (
	// pageSize is how many objects are listed at once, as by client-go's pager.
	pageSize = 500
	// pagePause keeps audits to a few thousand objects a second.
	pagePause = 100 * time.Millisecond
)

var (
	errNoVersions   = errors.New("the cached objects have no resourceVersion; does a transform remove it?")
	errNoAccessor   = errors.New("the cached objects have no metadata; does a transform remove it?")
	errNotListing   = errors.New("the informer is not running")
	errOtherVersion = errors.New("the API server's list is at another resourceVersion")
	errEndlessPages = errors.New("the API server's list does not end")
)

// listPage returns one page of what an informer watches.
type listPage func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error)

// pages returns how an informer's contents are listed: as metadata, where there is
// a client for that and it is known what the informer asks for, and otherwise
// through its own List.
func (l *listerWatcher) pages(client metadata.Interface) listPage {
	l.mu.Lock()
	gvr, ns, sel := l.gvr, l.ns, l.selectors
	l.mu.Unlock()
	if client == nil || gvr.Resource == "" || sel == nil {
		return l.inner.ListWithContext
	}
	return func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		opts.LabelSelector, opts.FieldSelector = sel.Label, sel.Field
		return client.Resource(gvr).Namespace(ns).List(ctx, opts)
	}
}

// contents lists all pages at a resourceVersion exactly, or as of now without one,
// and returns the objects' resourceVersions by namespace/name. Exactly is what
// kube-apiserver takes from the datastore itself before 1.34, and later where it
// has found its own watch cache to be wrong (apiserver 0.37,
// pkg/storage/cacher/delegator.go).
func (m *Monitor) contents(ctx context.Context, page listPage, rv string) (map[string]string, error) {
	out := map[string]string{}
	opts := exactly(rv)
	opts.Limit = pageSize
	for seen := map[string]bool{}; ; {
		list, err := m.page(ctx, page, opts)
		if err != nil {
			return nil, err
		}
		lm, err := meta.ListAccessor(list)
		if err != nil {
			return nil, fmt.Errorf("reading a list: %w", err)
		}
		if rv != "" && lm.GetResourceVersion() != rv {
			return nil, fmt.Errorf("%w: %q, asked for was %q", errOtherVersion, lm.GetResourceVersion(), rv)
		}
		if err := versionsInto(out, list); err != nil {
			return nil, err
		}
		next := lm.GetContinue()
		switch {
		case next == "":
			return out, nil
		case seen[next]:
			return nil, errEndlessPages
		}
		seen[next] = true
		opts = metav1.ListOptions{Limit: pageSize, Continue: next}
		select {
		case <-m.clock.After(pagePause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// page lists one page within ReadTimeout.
func (m *Monitor) page(ctx context.Context, page listPage, opts metav1.ListOptions) (runtime.Object, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := m.afterFunc(m.opts.ReadTimeout, func() { cancel(errReadTimeout) })
	defer stop()
	type answer struct {
		list runtime.Object
		err  error
	}
	done := make(chan answer, 1)
	go func() { // old clients do not look at the context: left behind until they return
		list, err := page(ctx, opts)
		done <- answer{list, err}
	}()
	select {
	case a := <-done:
		if a.err != nil && context.Cause(ctx) != nil {
			a.err = context.Cause(ctx)
		}
		return a.list, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// afterFunc calls f after d of the monitor's clock, unless it is stopped before.
func (m *Monitor) afterFunc(d time.Duration, f func()) (stop func()) {
	timer, done := m.clock.NewTimer(d), make(chan struct{})
	go func() {
		select {
		case <-timer.C():
			f()
		case <-done:
		}
	}()
	return func() { timer.Stop(); close(done) }
}

// exactly asks for a list at rv, or for a consistent one.
func exactly(rv string) metav1.ListOptions {
	if rv == "" {
		return metav1.ListOptions{}
	}
	return metav1.ListOptions{ResourceVersion: rv, ResourceVersionMatch: metav1.ResourceVersionMatchExact}
}

// versionsInto adds the resourceVersions of a list's objects.
func versionsInto(out map[string]string, list runtime.Object) error {
	return meta.EachListItem(list, func(obj runtime.Object) error { return addVersion(out, obj) })
}

func addVersion(out map[string]string, obj any) error {
	m, err := meta.Accessor(obj)
	if err != nil {
		return errNoAccessor
	}
	if m.GetResourceVersion() == "" {
		return errNoVersions
	}
	out[nameOf(m)] = m.GetResourceVersion()
	return nil
}

// nameOf is an object's namespace/name, or its name alone.
func nameOf(m metav1.Object) string {
	if ns := m.GetNamespace(); ns != "" {
		return ns + "/" + m.GetName()
	}
	return m.GetName()
}

// cached returns the resourceVersions of what the informer's store holds.
func (t *tracked) cached() (map[string]string, error) {
	objects := t.informer.GetStore().List()
	out := make(map[string]string, len(objects))
	for _, obj := range objects {
		if err := addVersion(out, obj); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// audit compares an informer's contents with the API server's, once it is its turn:
// a monitor makes one audit at a time.
func (m *Monitor) audit(ctx context.Context, t *tracked) auditResult {
	var r auditResult
	select {
	case m.auditing <- struct{}{}:
		defer func() { <-m.auditing }()
	case <-ctx.Done():
		r.err = context.Cause(ctx)
	}
	if r.err == nil {
		r = m.auditNow(ctx, t)
	}
	r.received = m.clock.Now()
	return r
}

func (m *Monitor) auditNow(ctx context.Context, t *tracked) (r auditResult) {
	m.mu.Lock()
	rv, client := t.state.provenRV, m.opts.Metadata
	if len(t.state.audits.suspects) > 0 {
		client = nil // the informer's own List may leave out more than its selectors say
	}
	r.at = t.state.freshAsOf
	if t.state.unprovable() {
		rv, r.at = "", m.clock.Now()
	}
	m.mu.Unlock()
	if t.informer.IsStopped() {
		return auditResult{err: errNotListing}
	}
	store, err := t.cached() // as soon after the proof as can be: what changes later has to be told apart
	if err != nil {
		return auditResult{err: err}
	}
	server, err := m.contents(ctx, t.lw.pages(client), rv)
	if err != nil && rv != "" && (apierrors.IsBadRequest(err) || apierrors.IsInvalid(err)) {
		rv = "" // an aggregated API that knows no exact lists
		server, err = m.contents(ctx, t.lw.pages(client), rv)
	}
	if err != nil {
		return auditResult{err: err}
	}
	r.objects, r.found = len(server), compare(server, store, rv)
	return r
}
