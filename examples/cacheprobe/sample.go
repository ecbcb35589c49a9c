// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// sample is what one server said about one kind at one time. resourceVersions are
// as sent; empty stands for what was not read, or does not exist.
type sample struct {
	at     time.Time
	quorum string        // of the datastore, read first
	took   time.Duration // until that was answered
	held   bool          // the server refused to: its cache did not get there
	cache  string        // where the watch cache stood, read after it
	object types.NamespacedName
	live   string // the object in the datastore
	cached string // the object in the watch cache, read after it

	// progress says that another kind, which hardly ever changes, kept up meanwhile.
	progress bool
	err      error
}

// A server whose watch cache does not catch up answers a consistent LIST after 3 s
// (read: blockTimeout in apiserver/pkg/storage/cacher, 0.37). Less some slack for
// clocks.
const blockTimeout = 2900 * time.Millisecond

// waited says whether the server waited in vain for its own watch cache.
func (s sample) waited() bool { return s.held || s.took >= blockTimeout }

// behind says whether the cache is, by what both resourceVersions say.
func (s sample) behind() bool {
	quorum, cache, err := s.versions()
	return err == nil && cache < quorum
}

// subject is one kind on one server, and what was seen of it.
type subject struct {
	server  *server
	target  target
	object  types.NamespacedName // given, or found
	samples []sample
}

// look takes one sample: two requests if all is well, and those that tell what is
// wrong if not.
func (s *subject) look(ctx context.Context) {
	now := sample{at: time.Now(), object: s.object}
	now.err = s.fill(ctx, &now)
	s.samples = append(s.samples, now)
}

func (s *subject) fill(ctx context.Context, now *sample) (err error) {
	if s.object.Name == "" {
		s.object = s.target.object
	}
	now.quorum, err = s.server.listNothing(ctx, s.target, "")
	now.took = time.Since(now.at)
	if needed, ok := tooLarge(err); ok {
		now.quorum, now.held, err = needed, true, nil
	}
	if err != nil {
		return fmt.Errorf("consistent LIST: %w", err)
	}
	if now.cache, err = s.server.listNothing(ctx, s.target, "0"); err != nil {
		return fmt.Errorf("LIST at resourceVersion 0: %w", err)
	}
	if now.behind() && s.object.Name == "" {
		s.search(ctx, now.cache)
	}
	if now.object = s.object; now.object.Name != "" {
		if now.live, err = s.server.get(ctx, s.target, now.object, ""); err != nil {
			return fmt.Errorf("GET of %s: %w", now.object, err)
		}
		if now.cached, err = s.server.get(ctx, s.target, now.object, "0"); err != nil {
			return fmt.Errorf("GET of %s at resourceVersion 0: %w", now.object, err)
		}
	}
	if now.behind() && now.waited() {
		now.progress = s.progress(ctx)
	}
	return nil
}

// tooLarge reads how far the datastore is from the 429 that a server answers
// instead of a consistent LIST when its cache is behind. The text is all that tells
// it from any other 429 (read: apiserver/pkg/storage/cacher/delegator.go, 0.37).
func tooLarge(err error) (needed string, ok bool) {
	if !apierrors.IsTooManyRequests(err) {
		return "", false
	}
	_, rest, ok := strings.Cut(err.Error(), "Too large resource version: ")
	needed, _, _ = strings.Cut(rest, ",")
	return needed, ok
}

// search looks for an object that has changed since the cache stopped. A server
// that refuses consistent LISTs can still be asked for single objects, so any
// object is worth a try then. Failing is no error: there may be none.
func (s *subject) search(ctx context.Context, cache string) {
	namespaces := s.target.namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		path := s.target.path(namespace, "")
		list, err := s.server.list(ctx, path, url.Values{"limit": {searched}})
		floor, _ := parse(cache)
		if _, refused := tooLarge(err); refused && namespace != "" {
			list, err = s.server.list(ctx, path, url.Values{"resourceVersion": {"0"}}) // whole, hence within a namespace only
			floor = 0
		}
		if err != nil {
			continue
		}
		for _, item := range list.Items {
			if rv, err := parse(item.ResourceVersion); err == nil && rv > floor {
				floor, s.object = rv, types.NamespacedName{Namespace: item.Namespace, Name: item.Name}
			}
		}
		if s.object.Name != "" {
			return
		}
	}
}

// progress asks whether a kind that does not change keeps up on the same server.
func (s *subject) progress(ctx context.Context) bool {
	for _, control := range controls() {
		if control.resource == s.target.resource {
			continue
		}
		quorum, err := s.server.listNothing(ctx, control, "")
		if err != nil {
			continue
		}
		cache, err := s.server.listNothing(ctx, control, "0")
		if err != nil {
			continue
		}
		return !sample{quorum: quorum, cache: cache}.behind()
	}
	return false
}
