// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
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

// way is the way to one API server, with a proxy in each place where something can
// break:
//
//	informers -- front (TCP) -- api (TLS, HTTP) -- back (TCP) -- kube-apiserver
type way struct {
	front, back *faultproxy.TCP
	api         *faultproxy.API
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
		if !await(ctx, patience, permitted) {
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

// pave makes the ways.
func (s *scene) pave(l link) error {
	servers := s.servers
	if l.pinned && len(servers) == 1 {
		servers = append(slices.Clone(servers), servers[0])
	}
	var fronts []string
	for _, server := range servers {
		w, err := s.newWay(server, l)
		if err != nil {
			return err
		}
		s.ways = append(s.ways, w)
		fronts = append(fronts, w.front.Addr())
	}
	if len(fronts) == 1 {
		return nil
	}
	var err error
	if s.balancer, err = startBalancer(fronts...); err != nil {
		return err
	}
	s.closers = append(s.closers, s.balancer.close)
	return nil
}

func (s *scene) newWay(to server, l link) (*way, error) {
	w := &way{}
	var err error
	upstream := rest.CopyConfig(to.config)
	if l.perRequest {
		relay, err := faultproxy.NewAPI(upstream, faultproxy.APIOptions{HTTP1Only: true})
		if err != nil {
			return nil, err
		}
		s.closers = append(s.closers, relay.Close)
		upstream = relay.Config(upstream)
	}
	if w.back, err = faultproxy.NewTCP(upstream.Host[len("https://"):], faultproxy.TCPOptions{}); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, w.back.Close)
	if w.api, err = faultproxy.NewAPI(upstream, faultproxy.APIOptions{Via: w.back.Addr()}); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, w.api.Close)
	if w.front, err = faultproxy.NewTCP(w.api.Addr(), faultproxy.TCPOptions{}); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, w.front.Close)
	return w, nil
}

// config is the informers' way in.
func (s *scene) config(agent string) (*rest.Config, error) {
	user, err := s.User(s.user)
	if err != nil {
		return nil, err
	}
	cfg := s.ways[0].api.Config(user)
	cfg.Host, cfg.CAData = "https://"+s.ways[0].front.Addr(), nil
	if s.balancer != nil {
		cfg.Host = "https://" + s.balancer.addr()
	}
	for _, w := range s.ways {
		cfg.CAData = append(cfg.CAData, w.api.CA()...)
	}
	cfg.UserAgent = agent
	return cfg, nil
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

// requests counts what the guarded client has asked for so far.
func (s *scene) requests() (n int64) {
	for _, w := range s.ways {
		n += w.api.Counts(faultproxy.Match{UserAgent: guardedAgent}).Requests
	}
	return n
}

// bill sums up the objects that each was sent to fill its cache since a moment.
func (s *scene) bill(from time.Time) (guarded, stock int64) {
	for _, w := range s.ways {
		for _, r := range w.api.Requests(faultproxy.Match{}) {
			if r.Start.Before(from) || r.Limit == 1 { // with that it is a proof
				continue
			}
			switch r.UserAgent {
			case guardedAgent:
				guarded += r.Objects + r.InitialObjects
			case stockAgent:
				stock += r.Objects + r.InitialObjects
			}
		}
	}
	return guarded, stock
}

// asked tells the guarded client's requests since a moment, the first of them.
func (s *scene) asked(from time.Time) []string {
	const most = 60
	var out []string
	for i, w := range s.ways {
		for _, r := range w.api.Requests(faultproxy.Match{UserAgent: guardedAgent}) {
			if !r.Start.Before(from) && len(out) < most {
				out = append(out, fmt.Sprintf("%8.1f s  way %d: %s rv=%q limit=%d initial=%t timeout=%d: %d after %v, %d objects, %d events, %d bookmarks, open %t %v",
					r.Start.Sub(from).Seconds(), i+1, r.Verb, r.ResourceVersion, r.Limit, r.SendInitialEvents, r.TimeoutSeconds,
					r.Status, short(r.Duration), r.Objects+r.InitialObjects, r.Events, r.Bookmarks, r.Open, r.Faults))
			}
		}
	}
	return out
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
