// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// long is how long the controls are looked at that are about silence.
const long = 10 * time.Minute

// controlRows are states in which nothing is wrong with the informers, whatever
// else is. They want no cure beyond a renewed watch.
func controlRows() []*row {
	return []*row{
		{
			id:    "N1",
			fault: "a quiet kind for ten minutes, while other kinds are written",
			strike: func(ctx context.Context, s *scene) (mend, error) {
				stop := s.bustle(ctx)
				return func(context.Context) error { stop(); return nil }, nil
			},
			lasts: long, editLater: true,
			want: control(nobody()),
		},
		{
			id:     "N2",
			fault:  "a quiet kind for ten minutes on a datastore that reports no progress",
			ground: ground{own: true, mute: true},
			strike: func(ctx context.Context, s *scene) (mend, error) {
				stop := s.bustle(ctx)
				return func(context.Context) error { stop(); return nil }, nil
			},
			lasts: long, editLater: true,
			want: mute(),
		},
		{
			id:     "N3",
			fault:  "a proxy strips bookmarks for ten minutes",
			strike: withholdBookmarks, lasts: long, editLater: true,
			want: control(nobody()),
		},
		{
			id: "N4", early: true,
			fault:  "the CustomResourceDefinition is absent, then created",
			strike: deleteKind, lasts: beyondLiveness, editLater: true,
			want: control(append(notProcess(), freshness.ControlPlaneStalled)),
		},
		{
			id:     "N6",
			fault:  "two API servers are restarted one after the other",
			ground: ground{own: true, servers: 2},
			strike: restartServers,
			lasts:  90 * time.Second,
			want:   control(append(notProcess(), freshness.ControlPlaneStalled, freshness.Blind)),
		},
		{
			id:     "N7",
			fault:  "etcd is stopped for 20 s",
			ground: ground{own: true},
			strike: stopEtcd, lasts: 20 * time.Second, editLater: true,
			want: control(append(notProcess(), freshness.ControlPlaneStalled, freshness.Blind)),
		},
		{
			id:     "N8",
			fault:  "etcd is stopped for 72 s",
			ground: ground{own: true},
			strike: stopEtcd, lasts: 72 * time.Second, editLater: true,
			want: control(append(notProcess(), freshness.ControlPlaneStalled, freshness.Blind)),
		},
		{
			id:     "N9",
			fault:  "etcd has no space left: no write, reads and watches work (17)",
			ground: ground{own: true, etcdArgs: []string{"--quota-backend-bytes=16777216"}},
			strike: fillEtcd, lasts: beyondLiveness, editLater: true,
			want: control(nobody()),
		},
		{
			id:     "N10",
			fault:  "a webhook blocks the writing of Leases (17)",
			strike: blockLeases, lasts: 3 * time.Minute,
			want: control(nobody()),
		},
		{
			id:    "N12",
			fault: "401 for 30 s, on new watches, too",
			strike: func(_ context.Context, s *scene) (mend, error) {
				refusal := s.inject(s.match(""), faultproxy.Status{Code: 401})
				s.breakConnections()
				return until(refusal)
			},
			lasts: 30 * time.Second,
			want:  control(append(notProcess(), freshness.ControlPlaneStalled, freshness.Blind)),
		},
		{
			id:     "N13",
			fault:  "one 410 after a partition of ten minutes, with many writes meanwhile (transport)",
			job:    job{Transport: true},
			strike: partition, lasts: long, editLater: true,
			want: control(append(notProcess(), freshness.ControlPlaneStalled, freshness.Blind)),
		},
		{
			id: "N14", early: true,
			fault:  "a first sync of 200 MB at 5 MB/s for each informer",
			ground: ground{own: true},
			strike: thinLine,
			want:   thin(),
		},
		{
			id:    "N15",
			fault: "a handler takes 2 s per event, for 20 objects and their changes",
			job:   job{PerEvent: 2 * time.Second},
			lasts: 2 * time.Minute,
			want:  control(nobody()),
		},
		{
			id: "N18", fast: true,
			fault: "GOAWAY every 50 requests, of which there are many",
			strike: func(ctx context.Context, s *scene) (mend, error) {
				goAway := s.inject(faultproxy.Match{}, faultproxy.GoAway{Every: 50})
				stop, err := s.ask(ctx)
				return func(context.Context) error { stop(); goAway.Lift(); return nil }, err
			},
			lasts: 45 * time.Second,
			want:  control(nobody()),
		},
		{
			id:     "N19",
			fault:  "a proxy ends each stream after 20 s, for ten minutes",
			strike: cutStreams, lasts: long, editLater: true,
			want: control(nobody()),
		},
	}
}

// control is what is wanted of an informer with which nothing is wrong: none of
// these verdicts, no cure but a renewed watch, nothing listed again that the stock
// informer does not list again, too.
func control(never []freshness.Verdict) expectation {
	return expectation{never: never, may: renewal(), asStock: true, healed: recovery}
}

// mute is what is wanted where nobody can tell a quiet kind from a frozen one.
func mute() expectation {
	w := control(append(notProcess(), freshness.ControlPlaneStalled))
	w.says, w.unproven = []freshness.Verdict{freshness.Blind}, true
	return w
}

// restartServers kills and starts one API server after the other, while nobody
// waits for it.
func restartServers(ctx context.Context, s *scene) (mend, error) {
	s.balancer.takeTurns(1)
	for _, server := range s.servers {
		if err := s.Restart(ctx, server.name); err != nil {
			return nil, err
		}
		poll.Until(ctx, 10*time.Second, func() bool { return false })
	}
	return func(context.Context) error { return nil }, nil
}

// blockLeases registers a webhook for Leases that nobody answers at.
func blockLeases(ctx context.Context, s *scene) (mend, error) {
	hooks := s.typed.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err := hooks.Create(ctx, &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "faults-leases"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name:                    "leases." + group,
			ClientConfig:            admissionv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/validate")},
			Rules:                   []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.OperationAll}, Rule: admissionv1.Rule{APIGroups: []string{"coordination.k8s.io"}, APIVersions: []string{"*"}, Resources: []string{"leases"}}}},
			FailurePolicy:           new(admissionv1.Fail),
			SideEffects:             new(admissionv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
			TimeoutSeconds:          new(int32(1)),
		}},
	}, metav1.CreateOptions{})
	return func(ctx context.Context) error { return hooks.Delete(ctx, "faults-leases", metav1.DeleteOptions{}) }, err
}

// partition cuts the informers off while much is written, so that where they were
// is history. The first watch of each afterwards is told so.
func partition(ctx context.Context, s *scene) (mend, error) {
	hole := s.ways[0].front.Blackhole(faultproxy.Blackhole{})
	stop := s.writeMuch(ctx)
	return func(context.Context) error {
		stop()
		for _, client := range []string{guardedAgent, stockAgent} {
			m := s.watches()
			m.UserAgent, m.Times = client, 1
			s.inject(m, faultproxy.Status{Code: 410})
		}
		hole.Lift()
		return nil
	}, nil
}

// thinLine makes 200 MB of objects, and a line of 5 MB/s for each informer.
func thinLine(ctx context.Context, s *scene) (mend, error) {
	const objects, size, rate = 400, 500_000, 10_000_000
	ballast := strings.Repeat("0123456789", size/10)
	for i := range objects {
		obj := s.kind.object(s.ns[0], fmt.Sprintf("large-%d", i), map[string]any{"ballast": ballast})
		if err := s.create(ctx, s.kind, obj); err != nil {
			return nil, err
		}
	}
	return until(s.ways[0].front.Bandwidth(rate))
}

func thin() expectation {
	w := control(nobody())
	w.healed = 4 * time.Minute
	return w
}
