// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// versions are those of one object: what the API server has, and what the cache
// has. Empty: nothing.
type versions struct{ server, store string }

// differences are the objects of which the cache has not what it should, by
// namespace/name.
type differences map[string]versions

// compare returns what differs between an API server's contents at
// resourceVersion rv and a cache that is proven to hold everything up to rv, both
// by namespace/name. What the cache has seen changed since is no difference. An
// object that was deleted since looks like a lost creation, and is told from one by
// confirmed.
//
// Without rv the contents are those of some moment, and only equality counts.
func compare(server, store map[string]string, rv string) differences {
	found := differences{}
	for key, want := range server {
		have := store[key]
		since := have != "" && reached(have, want) && !reached(rv, have) // rv may be "", which reaches nothing
		if have != want && !since {
			found[key] = versions{want, have}
		}
	}
	for key, have := range store {
		if _, there := server[key]; !there && (rv == "" || reached(rv, have)) {
			found[key] = versions{"", have}
		}
	}
	return found
}

// confirmed returns the differences that another comparison, made later and of
// contents newer than what the first had seen, has found as well: the same, so that
// nothing has happened to the object in the meantime that could explain it; or of an
// object that changes all the time, but has not come in the version of the first.
func (d differences) confirmed(later differences) differences {
	return maps.Collect(func(yield func(string, versions) bool) {
		for key, v := range d {
			l, again := later[key]
			stale := v.server != "" && l.server != "" && l.store != "" && comparableRV(v.server) && !reached(l.store, v.server)
			if again && (l == v || stale) && !yield(key, l) {
				return
			}
		}
	})
}

// names returns the objects, sorted.
func (d differences) names() []string { return slices.Sorted(maps.Keys(d)) }

// String names some of the objects.
func (d differences) String() string {
	const most = 3
	names := d.names()
	if n := len(names) - most; n > 0 {
		names = append(names[:most], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(names, ", ")
}
