// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

// ring keeps the newest values, up to a limit, so that a proxy that runs for days needs no more memory than one that
// runs for minutes. It is not safe for concurrent use.
type ring[T any] struct {
	limit int
	items []T
	next  int
}

func newRing[T any](limit int) *ring[T] {
	return &ring[T]{limit: limit}
}

func (r *ring[T]) add(v T) {
	if len(r.items) < r.limit {
		r.items = append(r.items, v)
		return
	}
	r.items[r.next] = v
	r.next = (r.next + 1) % r.limit
}

// all returns the values, oldest first.
func (r *ring[T]) all() []T {
	out := make([]T, 0, len(r.items))
	out = append(out, r.items[r.next:]...)
	return append(out, r.items[:r.next]...)
}
