// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// kindRows are about one kind: how it is served, to whom, and what its objects hold.
func kindRows() []*row {
	return []*row{
		{
			id:    "18",
			fault: "the conversion webhook of a kind is dead, and its watches have to begin anew",
			job:   job{Kind: kind{Version: "v2"}},
			strike: func(ctx context.Context, s *scene) (mend, error) {
				if err := s.convert(ctx, `{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://127.0.0.1:1/convert"},"conversionReviewVersions":["v1"]}}`); err != nil {
					return nil, err
				}
				s.breakConnections()
				return func(ctx context.Context) error { return s.convert(ctx, `{"strategy":"None","webhook":null}`) }, nil
			},
			lasts: beyondLiveness, named: true,
			want: expectation{
				detected: promise, words: []string{"conversion webhook"},
				never:  append(notProcess(), freshness.ControlPlaneStalled),
				healed: recovery, may: renewal(), relists: true, blind: true,
			},
		},
		{
			id:    "19",
			fault: "an object that the informer's Go type cannot hold: a text where it has a number",
			job:   job{Typed: true},
			strike: func(ctx context.Context, s *scene) (mend, error) {
				bad := s.kind.object(s.ns[0], "undecodable", map[string]any{"color": before, "count": "many"})
				return func(ctx context.Context) error {
					return s.dynamic.Resource(s.kind.stored()).Namespace(s.ns[0]).Delete(ctx, bad.GetName(), metav1.DeleteOptions{})
				}, s.put(ctx, s.kind, bad)
			},
			lasts: beyondLiveness, named: true,
			want: expectation{
				detected: promise, words: []string{"undecodable"},
				never:  append(notProcess(), freshness.ControlPlaneStalled),
				healed: recovery, may: renewal(), relists: true, blind: true,
			},
		},
		{
			id: "20", fast: true,
			fault:  "the CustomResourceDefinition is deleted under the informer, and created again",
			strike: deleteKind,
			lasts:  30 * time.Second, named: true, editLater: true,
			want: expectation{
				detected: promise, says: []freshness.Verdict{freshness.Blind, freshness.Fresh},
				never:  append(notProcess(), freshness.ControlPlaneStalled),
				healed: recovery, may: renewal(), relists: true,
			},
		},
		{
			id: "21", fast: true,
			fault: "the right to list and watch is revoked, and the connections break",
			strike: func(ctx context.Context, s *scene) (mend, error) {
				if err := s.permit(ctx, "get"); err != nil {
					return nil, err
				}
				if err := s.awaitRefusal(ctx); err != nil {
					return nil, err
				}
				s.breakConnections()
				return func(ctx context.Context) error { return s.permit(ctx, "list", "watch") }, nil
			},
			lasts: 25 * time.Second, named: true,
			want: expectation{
				detected: promise, says: []freshness.Verdict{freshness.Blind, freshness.Fresh}, words: []string{"forbidden"},
				never:  append(notProcess(), freshness.ControlPlaneStalled, freshness.Unreachable),
				healed: recovery, may: renewal(), relists: true, blind: true,
			},
		},
		{
			id: "22", fast: true, early: true,
			fault: "never synced at start: the role lacks the rule",
			strike: func(ctx context.Context, s *scene) (mend, error) {
				if err := s.permit(ctx, "get"); err != nil {
					return nil, err
				}
				return func(ctx context.Context) error { return s.permit(ctx, "list", "watch") }, s.awaitRefusal(ctx)
			},
			lasts: 25 * time.Second, named: true,
			want: expectation{
				detected: pinged, words: []string{"forbidden", "row22s"},
				never:  nobody(),
				healed: recovery, may: renewal(), relists: true, blind: true,
			},
		},
	}
}

// convert changes how a kind is converted between its versions.
func (s *scene) convert(ctx context.Context, conversion string) error {
	_, err := s.dynamic.Resource(definitions()).Patch(ctx, s.kind.resource()+"."+group, types.MergePatchType,
		[]byte(`{"spec":{"conversion":`+conversion+`}}`), metav1.PatchOptions{})
	return err
}

// deleteKind deletes a kind and all its objects. The mend creates them anew.
func deleteKind(ctx context.Context, s *scene) (mend, error) {
	crd := s.dynamic.Resource(definitions())
	name := s.kind.resource() + "." + group
	if err := crd.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return nil, err
	}
	gone := func() bool {
		_, err := crd.Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}
	if !poll.Until(ctx, patience, gone) {
		return nil, fmt.Errorf("%s is still there after %v", name, patience)
	}
	return func(ctx context.Context) error {
		if err := s.serve(ctx, s.kind); err != nil {
			return err
		}
		return s.populate(ctx, s.ns[0])
	}, nil
}

// awaitRefusal waits until the API server knows that the informers' rights are gone.
func (s *scene) awaitRefusal(ctx context.Context) error {
	refused := func() bool { return apierrors.IsForbidden(s.tryList(ctx, s.servers[0])) }
	if !poll.Until(ctx, patience, refused) {
		return fmt.Errorf("the informers' user may still list after %v", patience)
	}
	return nil
}
