// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// The clients of a row, by user agent. What the guard asks for by itself counts as
// the guarded client's.
const (
	guardedAgent = "faults-guarded"
	auditAgent   = guardedAgent + "-audit"
	stockAgent   = "faults-stock"
	// somebodyAgent is anybody else on the same way.
	somebodyAgent = "faults-somebody"
)

// scene is what a row is played on: a kind of its own in namespaces of its own, a
// user with no more rights than informers need, and the ways to the API servers.
type scene struct {
	*plane
	row  *row
	kind kind
	ns   []string
	user string
	ways []*way
	// balancer leads to the ways, if there are two.
	balancer *balancer
	cast     cast
	backup   *controlplane.Checkpoint

	closers []func() error
}

// newScene prepares everything but the informers. The caller closes it.
func newScene(ctx context.Context, p *plane, r *row) (_ *scene, err error) {
	s := &scene{plane: p, row: r, kind: r.job.Kind, user: "row-" + r.id}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if err := p.serve(ctx, s.kind); err != nil {
		return nil, err
	}
	for range max(r.informers, 1) {
		ns, err := p.namespace(ctx)
		if err != nil {
			return nil, err
		}
		s.ns = append(s.ns, ns)
		if err := p.permit(ctx, s.user, s.kind, ns, "list", "watch"); err != nil {
			return nil, err
		}
		if len(s.ns) > 1 {
			continue // the edit is made in the first
		}
		if err := s.populate(ctx, ns); err != nil {
			return nil, err
		}
	}
	if err := s.awaitPermission(ctx); err != nil {
		return nil, err
	}
	return s, s.pave(r.link)
}

// awaitPermission waits until the API servers know of the informers' rights.
func (s *scene) awaitPermission(ctx context.Context) error {
	for _, server := range s.servers {
		var err error
		permitted := func() bool {
			err = s.tryList(ctx, server)
			return err == nil
		}
		if !poll.Until(ctx, patience, permitted) {
			return fmt.Errorf("the informers' user may not list within %v: %w", patience, err)
		}
	}
	return nil
}

// tryList lists as the informers' user.
func (s *scene) tryList(ctx context.Context, from server) error {
	cfg := rest.CopyConfig(from.config)
	cfg.Impersonate.UserName = s.user
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return err
	}
	_, err = client.Resource(s.kind.read()).Namespace(s.ns[len(s.ns)-1]).List(ctx, metav1.ListOptions{Limit: 1})
	return err
}

// permit gives the informers' user these rights, and no others.
func (s *scene) permit(ctx context.Context, verbs ...string) error {
	for _, ns := range s.ns {
		if err := s.plane.permit(ctx, s.user, s.kind, ns, verbs...); err != nil {
			return err
		}
	}
	return nil
}

// populate fills a namespace.
func (s *scene) populate(ctx context.Context, ns string) error {
	for i := range population {
		obj := s.kind.object(ns, fmt.Sprintf("object-%d", i), map[string]any{"color": before, "count": int64(i)})
		if err := s.put(ctx, s.kind, obj); err != nil {
			return err
		}
	}
	return nil
}

// watches selects the informers' watches.
func (s *scene) watches() faultproxy.Match { return s.match("watch") }

func (s *scene) match(verb string) faultproxy.Match {
	return faultproxy.Match{Verb: verb, Group: group, Resource: s.kind.resource()}
}

// inject makes a fault in the first way.
func (s *scene) inject(m faultproxy.Match, f faultproxy.Fault) *faultproxy.Injection {
	return s.ways[0].api.Inject(m, f)
}

// breakConnections ends all connections at once, and not in silence.
func (s *scene) breakConnections() {
	for _, w := range s.ways {
		w.front.Reset()
	}
}

// close ends everything, the newest first.
func (s *scene) close() error {
	var errs []error
	for _, c := range slices.Backward(s.closers) {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// until is a mend that lifts faults.
func until(faults ...*faultproxy.Injection) (mend, error) {
	return func(context.Context) error {
		for _, f := range faults {
			f.Lift()
		}
		return nil
	}, nil
}
