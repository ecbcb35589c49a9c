// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

func TestProbe(t *testing.T) {
	onLeases, onConfigMaps := []string{}, []string{"-resource", "configmaps"}
	freeze := func(s scripted, kinds ...schema.GroupVersionResource) {
		for _, kind := range kinds {
			s.FreezeWatchCache(kind)
		}
	}
	all := []schema.GroupVersionResource{configMaps, leases().resource, controls()[0].resource}
	for _, test := range []struct {
		name    string
		options freshtest.Options
		args    []string
		arrange func(s scripted)
		want    verdict
		reason  string
		samples int
	}{
		{name: "nothing wrong", args: onLeases, want: healthy, samples: 1},
		{name: "nothing wrong, while others write", args: onConfigMaps, arrange: func(s scripted) { s.Bump(7) }, want: healthy, samples: 1},
		{name: "nothing wrong, without namespaces", args: []string{"-resource", "sites.example.com"}, arrange: func(s scripted) { s.Bump(7) }, want: healthy, samples: 1},
		{name: "nothing wrong, object named", args: append(onConfigMaps, "-object", "default/settings"), want: healthy, samples: 1},
		{name: "slow, but healthy", options: freshtest.Options{ProgressDelay: 2 * time.Second}, args: onConfigMaps, arrange: func(s scripted) { s.Bump(7) }, want: healthy, samples: 1},
		{name: "another kind frozen", args: onConfigMaps, arrange: func(s scripted) {
			freeze(s, leases().resource)
			s.keepTouching(lease("kube-system", "scheduler"))
		}, want: healthy, samples: 1},
		{name: "frozen, hot lease found", args: onLeases, arrange: func(s scripted) {
			freeze(s, leases().resource)
			s.keepTouching(lease("kube-system", "scheduler"))
		}, want: frozen, reason: "of kube-system/scheduler", samples: 3},
		{name: "frozen, only nodes write", args: onLeases, arrange: func(s scripted) {
			freeze(s, all...)
			s.keepTouching(lease("kube-node-lease", "node"))
		}, want: frozen, reason: "of kube-node-lease/node", samples: 3},
		{name: "everything frozen", args: onLeases, arrange: func(s scripted) {
			freeze(s, all...)
			s.keepTouching(lease("kube-system", "scheduler"))
		}, want: frozen, reason: "of kube-system/scheduler", samples: 3},
		{name: "everything frozen, lists refused", options: freshtest.Options{RejectStaleLists: true}, args: onLeases, arrange: func(s scripted) {
			freeze(s, all...)
			s.keepTouching(lease("kube-system", "scheduler"))
		}, want: frozen, reason: "of kube-system/scheduler", samples: 3},
		{name: "quiet kind frozen", args: onConfigMaps, arrange: func(s scripted) {
			freeze(s, configMaps)
			s.Bump(7)
		}, want: frozen, reason: "quiet kind keeps up", samples: 3},
		{name: "quiet kind frozen, lists refused", options: freshtest.Options{RejectStaleLists: true}, args: onConfigMaps, arrange: func(s scripted) {
			freeze(s, configMaps)
			s.Bump(7)
		}, want: frozen, reason: "quiet kind keeps up", samples: 3},
		{name: "named object frozen", args: append(onConfigMaps, "-object", "default/settings"), arrange: func(s scripted) {
			freeze(s, all...)
			s.touch(settings())
		}, want: frozen, reason: "of default/settings", samples: 3},
		{name: "no progress from the datastore", args: onConfigMaps, arrange: func(s scripted) {
			freeze(s, all...)
			s.Bump(7)
		}, want: unknown, reason: "such as leases", samples: 3},
		{name: "frozen and nothing written", args: onConfigMaps, arrange: func(s scripted) { freeze(s, configMaps) }, want: healthy, samples: 1},
		{name: "thawed after the first sample", args: onLeases, arrange: func(s scripted) {
			f := s.FreezeWatchCache(leases().resource)
			s.touch(lease("kube-system", "scheduler"))
			time.AfterFunc(8*time.Second, f.Lift)
		}, want: healthy, samples: 2},
		{name: "late", args: onLeases, arrange: func(s scripted) {
			limp(s, leases().resource)
			s.keepTouching(lease("kube-system", "scheduler"))
		}, want: late, reason: "moving", samples: 3},
		{name: "one sample is not enough", args: append(onConfigMaps, "-samples", "1"), arrange: func(s scripted) {
			freeze(s, configMaps)
			s.touch(settings())
		}, want: unknown, reason: "once", samples: 1},
		{name: "503", args: onLeases, arrange: func(s scripted) { s.Respond(leases().resource, "", 503, 0) }, want: unreachable, samples: 3},
		{name: "503 once", args: onLeases, arrange: func(s scripted) { s.Respond(leases().resource, "", 503, 1) }, want: healthy, samples: 2},
		{name: "429 for another reason", args: onLeases, arrange: func(s scripted) { s.Respond(leases().resource, "", 429, 0) }, want: unreachable, samples: 3},
		{name: "refused", args: onLeases, arrange: func(s scripted) { s.Refuse() }, want: unreachable, samples: 3},
		{name: "forbidden", args: onLeases, arrange: func(s scripted) { s.Deny(leases().resource) }, want: unknown, reason: "forbidden", samples: 1},
		{name: "unauthorized", args: onLeases, arrange: func(s scripted) { s.Respond(schema.GroupVersionResource{}, "", 401, 0) }, want: unknown, samples: 1},
		{name: "no such kind", args: []string{"-resource", "gadgets.example.com"}, want: unknown, reason: "gadgets"},
		{name: "no discovery", args: onConfigMaps, arrange: func(s scripted) { s.Refuse() }, want: unreachable},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScripted(t, test.options)
				if test.arrange != nil {
					test.arrange(s)
				}
				rep, said := s.probe(test.args...)
				wantVerdict(t, rep, said, test.want, test.reason)
				if test.samples > 0 && (len(rep.Checks) != 1 || len(rep.Checks[0].Samples) != test.samples) {
					t.Errorf("got %+v, want one check of %d samples", rep.Checks, test.samples)
				}
			})
		})
	}
}

// limp lets a watch cache move between two samples, and only then. The first takes 6 s, the
// others 3 s, and there are 10 s between them.
func limp(s scripted, kind schema.GroupVersionResource) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.t.Cleanup(func() { cancel(); <-done })
	freeze := s.FreezeWatchCache(kind)
	go func() {
		defer close(done)
		for _, pause := range []time.Duration{10 * time.Second, 15 * time.Second} {
			if wait(ctx, pause) != nil {
				return
			}
			freeze.Lift()
			freeze = s.FreezeWatchCache(kind)
		}
	}()
}

func TestAHealthyServerIsAskedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScripted(t, freshtest.Options{})
		before := len(s.Log())
		s.probe()
		var got []string
		for _, r := range s.Log()[before:] {
			got = append(got, r.Verb+" "+r.Path+" at "+r.ResourceVersion)
		}
		const path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
		if diff := cmp.Diff([]string{"list " + path + " at ", "list " + path + " at 0"}, got); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

func TestAllServers(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
	}{
		{"found", []string{"-all"}},
		{"given", []string{"-server", "10.0.0.1:6443", "-server", "10.0.0.2:6443"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				usual, one, two := newScripted(t, freshtest.Options{}), newScripted(t, freshtest.Options{}), newScripted(t, freshtest.Options{})
				usual.create(apiServers("10.0.0.1", "10.0.0.2"))
				two.FreezeWatchCache(leases().resource)
				two.keepTouching(lease("kube-system", "scheduler"))
				cfg := spread(usual, map[string]scripted{"10.0.0.1:6443": one, "10.0.0.2:6443": two})
				rep, said := probe(t, cfg, test.args...)
				wantVerdict(t, rep, said, frozen, "kube-system/scheduler")
				if diff := cmp.Diff([]string{"10.0.0.2:6443"}, rep.Frozen); diff != "" {
					t.Errorf("frozen servers (-want +got):\n%s", diff)
				}
				if len(rep.Checks) != 2 || rep.Checks[0].Verdict != healthy || rep.Checks[0].Server != "10.0.0.1:6443" {
					t.Errorf("checks %+v, want a healthy 10.0.0.1:6443 first", rep.Checks)
				}
			})
		})
	}
}

func TestNoAPIServerNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScripted(t, freshtest.Options{})
		rep, said := s.probe("-all")
		wantVerdict(t, rep, said, unknown, "default/kubernetes")
		s.create(apiServers())
		rep, said = s.probe("-all")
		wantVerdict(t, rep, said, unknown, "names no API server")
	})
}
