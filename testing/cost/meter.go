// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// meter counts a client's requests and the bytes of the answers' bodies.
type meter struct {
	bytes atomic.Int64

	mu    sync.Mutex
	sent  map[string]int // by what they are for
	proof []time.Time    // when those that prove were sent
}

// reading is what a meter stood at.
type reading struct {
	at    time.Time
	bytes int64
	sent  map[string]int
}

// What requests are for.
const (
	forProof = "proof"
	forWatch = "watch"
	forList  = "list"
	forUser  = "user"
)

// purpose tells what a request is for. A proof is a list of at most one object, or,
// where a rate limit is in its way, a watch that selects nothing.
func purpose(r *http.Request) string {
	q := r.URL.Query()
	switch {
	case q.Get("limit") == "1", q.Get("fieldSelector") != "":
		return forProof
	case q.Get("watch") != "":
		return forWatch
	case q.Has("resourceVersion"), q.Has("limit"):
		return forList
	default:
		return forUser
	}
}

func (m *meter) wrap(rt http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		m.count(purpose(r), time.Now())
		resp, err := rt.RoundTrip(r)
		if err == nil {
			resp.Body = &countedBody{resp.Body, &m.bytes}
		}
		return resp, err
	})
}

func (m *meter) count(what string, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sent == nil {
		m.sent = map[string]int{}
	}
	m.sent[what]++
	if what == forProof {
		m.proof = append(m.proof, at)
	}
}

func (m *meter) begin() reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	return reading{at: time.Now(), bytes: m.bytes.Load(), sent: maps.Clone(m.sent)}
}

// figures returns what happened since a reading.
func (m *meter) figures(since reading) *figures {
	now := m.begin()
	took := now.at.Sub(since.at).Seconds()
	per := func(what string) float64 { return float64(now.sent[what]-since.sent[what]) / took }
	f := &figures{
		Seconds: took, BytesPerSecond: float64(now.bytes-since.bytes) / took,
		ProofsPerSecond: per(forProof), WatchesPerSecond: per(forWatch), ListsPerSecond: per(forList), UserPerSecond: per(forUser),
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f.BusiestSecond = busiest(m.proof, since.at, now.at)
	f.BusiestSecondEver = busiest(m.proof, time.Time{}, now.at)
	f.PerSecondOfMinute = overTheMinute(m.proof, since.at, now.at)
	return f
}

// busiest returns the largest number of moments within any one second.
func busiest(moments []time.Time, from, to time.Time) int {
	most, first := 0, 0
	sorted := slices.DeleteFunc(slices.Clone(moments), func(t time.Time) bool { return t.Before(from) || t.After(to) })
	slices.SortFunc(sorted, time.Time.Compare)
	for i, t := range sorted {
		for t.Sub(sorted[first]) >= time.Second {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// overTheMinute tells how many moments fall into each second of a minute that
// begins at from, over all minutes.
func overTheMinute(moments []time.Time, from, to time.Time) string {
	var out [60]int
	for _, t := range moments {
		if !t.Before(from) && t.Before(to) {
			out[int(t.Sub(from)/time.Second)%60]++
		}
	}
	return strings.Trim(fmt.Sprint(out), "[]")
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type countedBody struct {
	io.ReadCloser
	n *atomic.Int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n.Add(int64(n))
	return n, err
}
