// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// side is one of the clients that stand beside each other in a test: from a
// wrapped config, or stock client-go. It has one http.Client, as an operator has.
type side struct {
	agent string
	guard *transport.Transport // nil: stock
	cfg   *rest.Config
	http  *http.Client
	// diaries are what its informers have shown, in the order of the edits that they
	// were made for.
	diaries []*diary
}

// wrappedSide makes a client from a wrapped copy of the config.
func wrappedSide(t *testing.T, cfg *rest.Config, agent string, opts transport.Options) *side {
	t.Helper()
	s := &side{agent: agent, cfg: rest.CopyConfig(cfg)}
	s.cfg.UserAgent = agent
	s.guard = wrap(t, s.cfg, opts)
	s.http = httpClientFor(t, s.cfg)
	return s
}

// stockSide makes a client from the config as it is.
func stockSide(t *testing.T, cfg *rest.Config, agent string) *side {
	t.Helper()
	s := &side{agent: agent, cfg: rest.CopyConfig(cfg)}
	s.cfg.UserAgent = agent
	s.http = httpClientFor(t, s.cfg)
	return s
}

// listerWatcher returns what an informer of the edited objects reads by.
func (s *side) listerWatcher(t *testing.T, e *edits, as reader) cache.ListerWatcher {
	t.Helper()
	client, err := dynamic.NewForConfigAndClient(s.cfg, s.http)
	if err != nil {
		t.Fatal(err)
	}
	lw := dynamicLW(client, e.kind, e.ns)
	if as != nil {
		lw = as(lw)
	}
	return lw
}

// inform runs an informer for each of the edits until the end of the test.
func (s *side) inform(t *testing.T, as reader, all ...*edits) {
	t.Helper()
	for _, e := range all {
		inf := cache.NewSharedIndexInformer(s.listerWatcher(t, e, as), &unstructured.Unstructured{}, 0, cache.Indexers{})
		s.note(t, e, inf)
		untilEnd(t, inf.RunWithContext)
	}
}

// note has a diary kept of an informer.
func (s *side) note(t *testing.T, e *edits, inf interface {
	AddEventHandler(cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error)
}) {
	t.Helper()
	d := &diary{edits: e}
	if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: d.see, UpdateFunc: func(_, obj any) { d.see(obj) },
	}); err != nil {
		t.Fatal(err)
	}
	s.diaries = append(s.diaries, d)
}

// showsAll tells whether all its informers show the last edit.
func (s *side) showsAll() bool {
	for _, d := range s.diaries {
		if !d.shows(d.edits.last()) {
			return false
		}
	}
	return true
}

// showsAny tells whether one of them does.
func (s *side) showsAny() bool {
	for _, d := range s.diaries {
		if d.shows(d.edits.last()) {
			return true
		}
	}
	return false
}

// latest returns how long after a moment the last of its informers has shown the
// last edit; negative: not yet.
func (s *side) latest(since time.Time) time.Duration {
	var out time.Duration
	for _, d := range s.diaries {
		at, shown := d.at(d.edits.last())
		if !shown {
			return -1
		}
		out = max(out, at.Sub(since))
	}
	return out
}

// first returns how long after a moment the first of its informers has shown the
// last edit; negative: none has.
func (s *side) first(since time.Time) time.Duration {
	out := time.Duration(-1)
	for _, d := range s.diaries {
		if at, shown := d.at(d.edits.last()); shown && (out < 0 || at.Sub(since) < out) {
			out = at.Sub(since)
		}
	}
	return out
}

// flow makes two edits of everything, one after the other, and waits until every
// informer shows them. The first may have come with a list: the second has not, so
// that the fault that comes next finds watches that have just brought something.
func flow(t *testing.T, sides ...*side) {
	t.Helper()
	for range 2 {
		made := map[*edits]bool{}
		for _, s := range sides {
			for _, d := range s.diaries {
				if !made[d.edits] {
					made[d.edits] = true
					d.edits.make(t)
				}
			}
		}
		for _, s := range sides {
			if !poll.Until(t.Context(), patience, s.showsAll) {
				t.Fatalf("%s does not show the edits within %v, with nothing in the way", s.agent, patience)
			}
		}
	}
}
