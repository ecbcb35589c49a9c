// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// TestWatchReadAllocatesNothing holds for every event and every byte.
func TestWatchReadAllocatesNothing(t *testing.T) {
	r, bodies := watchEndless(t)
	buf := make([]byte, 4<<10)
	if n := testing.AllocsPerRun(1000, func() { _, _ = bodies[r.wrapped].Read(buf) }); n != 0 {
		t.Errorf("a read costs %v allocations, want none", n)
	}
}

// TestWatchesAtRestCostNoGoroutine has as many watches wait as a large operator
// has: by a wrapped client it is one goroutine more than by a stock one, for all.
func TestWatchesAtRestCostNoGoroutine(t *testing.T) {
	const watches = 200
	r := newRivals(t, func(w http.ResponseWriter, req *http.Request) {
		if !strings.Contains(req.URL.RawQuery, "watch") {
			return
		}
		_, _ = w.Write(event)
		_ = http.NewResponseController(w).Flush()
		<-req.Context().Done()
	})
	cost := map[*http.Client]int{}
	for _, client := range []*http.Client{r.stock, r.wrapped} {
		cost[client] = goroutinesOf(t, client, r.url, watches)
	}
	if got := cost[r.wrapped] - cost[r.stock]; got != 1 {
		t.Errorf("%d watches at rest cost %d goroutines, and %d by a stock client: %d more, want 1", watches, cost[r.wrapped], cost[r.stock], got)
	}
	t.Logf("%d watches at rest: %d goroutines, stock %d", watches, cost[r.wrapped], cost[r.stock])
}

// goroutinesOf returns by how many goroutines there are more while so many
// watches, with a reader each, wait.
func goroutinesOf(t *testing.T, client *http.Client, url string, watches int) int {
	t.Helper()
	if resp, err := client.Get(url + "/api"); err != nil { // the connection is there before
		t.Fatal(err)
	} else {
		_ = resp.Body.Close()
	}
	before := settledGoroutines(t)
	read := make(chan struct{}, watches)
	done := make(chan struct{}, watches)
	var bodies []io.Closer
	for range watches {
		resp, err := client.Get(url + "/api/v1/configmaps?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, resp.Body)
		go func() {
			defer func() { done <- struct{}{} }()
			buf := make([]byte, 4<<10)
			for {
				if _, err := resp.Body.Read(buf); err != nil {
					return
				}
				read <- struct{}{}
			}
		}()
	}
	for range watches {
		<-read
	}
	after := settledGoroutines(t)
	for _, b := range bodies {
		_ = b.Close()
	}
	for range watches {
		<-done
	}
	return after - before
}

// settledGoroutines returns the number of goroutines once it does not change.
func settledGoroutines(t *testing.T) int {
	t.Helper()
	last, same := 0, 0
	eventually(t, "a number of goroutines that stays", func() bool {
		n := runtime.NumGoroutine()
		if n != last {
			last, same = n, 0
		}
		same++
		return same > 40 // looks, 5 ms apart
	})
	return last
}
