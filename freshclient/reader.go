// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshclient

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/freshwatch/freshwatch/freshness"
)

// DefaultMaxAge is what a healthy, quiet informer keeps to by itself.
const DefaultMaxAge = freshness.DefaultMaxStaleness

// ReaderOptions configures a Reader. The zero value is ready for use.
type ReaderOptions struct {
	// MaxAge is how old the newest proof may be for reads to be served from the
	// cache.
	//
	// Defaults to 75s. Must not be negative.
	MaxAge time.Duration

	// Wait is how long a read may wait for a proof (see EnsureFresh) before it goes
	// to the API server.
	//
	// Defaults to 0: it goes at once. Must not be negative.
	Wait time.Duration

	// ServeStale serves from the cache where the API server cannot be reached
	// either, rather than fail. The default is safe: no answer instead of an old one.
	ServeStale bool
}

// Reader reads from the cache as long as that is proven fresh, and from the API
// server otherwise: for a kind that has no informer yet always, since it makes none.
// Ask the manager's cache for one first (GetInformer), or have a controller watch the
// kind. It is safe for concurrent use.
type Reader struct {
	cache   client.Client
	live    client.Reader
	monitor *freshness.Monitor
	opts    ReaderOptions
}

var _ client.Reader = (*Reader)(nil)

// NewReader makes a Reader of a manager's client, which reads from the cache, and
// its API reader, which does not.
func NewReader(cached client.Client, live client.Reader, m *freshness.Monitor, opts ReaderOptions) (*Reader, error) {
	switch {
	case cached == nil || live == nil || m == nil:
		return nil, fmt.Errorf("freshclient: NewReader wants a client, a reader and a monitor, got %s", nils(cached == nil, live == nil, m == nil))
	case opts.MaxAge < 0:
		return nil, fmt.Errorf("freshclient: ReaderOptions.MaxAge is %v, but must not be negative", opts.MaxAge)
	case opts.Wait < 0:
		return nil, fmt.Errorf("freshclient: ReaderOptions.Wait is %v, but must not be negative", opts.Wait)
	case opts.MaxAge == 0:
		opts.MaxAge = DefaultMaxAge
	}
	return &Reader{cache: cached, live: live, monitor: m, opts: opts}, nil
}

// Get implements client.Reader.
func (r *Reader) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return r.read(ctx, obj, key.Namespace, func(from client.Reader) error { return from.Get(ctx, key, obj, opts...) })
}

// List implements client.Reader.
func (r *Reader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	namespace := (&client.ListOptions{}).ApplyOptions(opts).Namespace
	return r.read(ctx, list, namespace, func(from client.Reader) error { return from.List(ctx, list, opts...) })
}

func (r *Reader) read(ctx context.Context, obj runtime.Object, namespace string, from func(client.Reader) error) error {
	of, err := name(r.cache, obj, namespace)
	if err != nil {
		return err
	}
	if r.fresh(ctx, of) {
		return from(r.cache)
	}
	err = from(r.live)
	if err != nil && r.opts.ServeStale && unreachable(err) {
		return from(r.cache)
	}
	return err
}

// fresh tells whether the cache will do, and waits for it if it may.
func (r *Reader) fresh(ctx context.Context, of freshness.Informer) bool {
	if st, found := r.monitor.StatusOf(of); !found || !st.FreshAsOf.IsZero() && st.Staleness <= r.opts.MaxAge {
		return found
	}
	if r.opts.Wait == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, r.opts.Wait)
	defer cancel()
	return r.monitor.EnsureFresh(ctx, of, r.opts.MaxAge) == nil
}

// EnsureFresh returns once the cache holds every change to objects of obj's kind,
// in obj's namespace, that was committed up to maxAge before the call: see
// freshness.Monitor.EnsureFresh. obj may be empty but for its namespace.
func EnsureFresh(ctx context.Context, c client.Client, m *freshness.Monitor, obj client.Object, maxAge time.Duration) error {
	if c == nil || m == nil || obj == nil {
		return fmt.Errorf("freshclient: EnsureFresh wants a client, a monitor and an object, got %s", nils(c == nil, m == nil, obj == nil))
	}
	of, err := name(c, obj, obj.GetNamespace())
	if err != nil {
		return err
	}
	return m.EnsureFresh(ctx, of, maxAge)
}

// nils says which of three arguments is nil.
func nils(first, second, third bool) string {
	var at []string
	for i, is := range []bool{first, second, third} {
		if is {
			at = append(at, []string{"first", "second", "third"}[i])
		}
	}
	return "nil for the " + strings.Join(at, " and the ")
}

// name names the informers that hold objects of a kind, or of a list's.
func name(c client.Client, obj runtime.Object, namespace string) (freshness.Informer, error) {
	gvk, err := c.GroupVersionKindFor(obj)
	if err != nil {
		return freshness.Informer{}, fmt.Errorf("freshclient: the kind of a %T: %w", obj, err)
	}
	of, err := informerOf(c.RESTMapper(), elementKind(obj, gvk), namespace)
	if err != nil {
		return freshness.Informer{}, fmt.Errorf("freshclient: the resource of %v: %w", gvk, err)
	}
	return of, nil
}

// elementKind is the kind of a list's elements.
func elementKind(obj runtime.Object, gvk schema.GroupVersionKind) schema.GroupVersionKind {
	if _, ok := obj.(client.ObjectList); ok {
		gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	}
	return gvk
}
