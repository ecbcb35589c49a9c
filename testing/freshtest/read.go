// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// get reads one object: from etcd without an RV, else from the watch cache once that has reached it.
func (cl *cluster) get(
	ctx context.Context, c *watchCache, k key, resourceVersion string,
) (*unstructured.Unstructured, error) {
	rv, err := parseRV(resourceVersion)
	if err != nil {
		return nil, err
	}
	cl.mu.Lock()
	defer cl.mu.Unlock()
	state := cl.store.tables[c.kind.GVR()].objects
	if resourceVersion != "" {
		if err := cl.waitFresh(ctx, c, rv); err != nil {
			return nil, err
		}
		state = c.objects
	}
	obj, ok := state[k]
	if !ok {
		return nil, apierrors.NewNotFound(c.kind.groupResource(), k.name)
	}
	return obj, nil
}

// page is what a list returns.
type page struct {
	rv       uint64
	items    []*unstructured.Unstructured
	next     string // continue token
	remained *int64
}

// list reads the objects that sel covers, with the semantics of resourceVersion, resourceVersionMatch, limit and
// continue that kube-apiserver has.
func (cl *cluster) list(
	ctx context.Context, c *watchCache, sel selector, opts *internalversion.ListOptions,
) (*page, error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if opts.Continue != "" {
		token, err := decodeContinue(opts.Continue)
		if err != nil {
			return nil, err
		}
		state, err := cl.exact(ctx, c, token.RV)
		if err != nil {
			return nil, err
		}
		return cut(state, token.RV, sel, opts.Limit, &token.After), nil
	}
	rv, err := parseRV(opts.ResourceVersion)
	if err != nil {
		return nil, err
	}
	// A limit with an RV and no match is exact, for compatibility with ancient clients.
	legacyExact := opts.ResourceVersionMatch == "" && opts.Limit > 0 && rv > 0
	switch {
	case opts.ResourceVersionMatch == metav1.ResourceVersionMatchExact, legacyExact:
		state, err := cl.exact(ctx, c, rv)
		if err != nil {
			return nil, err
		}
		return cut(state, rv, sel, opts.Limit, nil), nil
	case opts.ResourceVersion == "":
		state, rv, err := cl.consistent(ctx, c)
		if err != nil {
			return nil, err
		}
		return cut(state, rv, sel, opts.Limit, nil), nil
	}
	if err := cl.waitFresh(ctx, c, rv); err != nil {
		return nil, err
	}
	limit := opts.Limit
	if rv == 0 {
		limit = 0 // a list from the cache at any RV ignores it
	}
	return cut(c.objects, c.rv, sel, limit, nil), nil
}

// consistent returns the watch cache's state once it has reached the global RV. Where it does not in time, that is
// etcd's state, or 429 if so configured.
func (cl *cluster) consistent(ctx context.Context, c *watchCache) (objects, uint64, error) {
	err := cl.waitFresh(ctx, c, cl.store.rv)
	switch {
	case err == nil:
		return c.objects, c.rv, nil
	case !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge):
		return nil, 0, err
	case cl.options.RejectStaleLists:
		return nil, 0, apierrors.NewTooManyRequests(err.Error(), 1)
	default:
		return cl.store.tables[c.kind.GVR()].objects, cl.store.rv, nil
	}
}

// exact returns the state at rv, waiting for it if it is to come.
func (cl *cluster) exact(ctx context.Context, c *watchCache, rv uint64) (objects, error) {
	if err := cl.waitFresh(ctx, c, rv); err != nil {
		return nil, err
	}
	state, ok := cl.store.at(c.kind.GVR(), rv)
	if !ok {
		return nil, apierrors.NewResourceExpired(
			fmt.Sprintf("The resourceVersion for the provided list is too old: %d (%d)", rv, cl.store.compacted))
	}
	return state, nil
}

// cut makes the page of state that begins after a key and has at most limit items; 0 is no limit.
func cut(state objects, rv uint64, sel selector, limit int64, after *key) *page {
	keys := make([]key, 0, len(state))
	for k, obj := range state {
		if (after == nil || k.compare(*after) > 0) && sel.matches(obj) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, key.compare)
	p := &page{rv: rv}
	if rest := int64(len(keys)) - limit; limit > 0 && rest > 0 {
		keys = keys[:limit]
		p.next = encodeContinue(continueToken{RV: rv, After: keys[limit-1]})
		if sel.everything() {
			p.remained = &rest
		}
	}
	for _, k := range keys {
		p.items = append(p.items, state[k])
	}
	return p
}
