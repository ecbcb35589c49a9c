// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// inquiry asks for something every askEvery, and notes what status it gets.
type inquiry struct {
	client rest.Interface
	paths  []string     // asked for in turn
	tell   func(answer) // nil: nobody else wants to know

	mu   sync.Mutex
	seen answers
}

// answer is the status of an answer; 0: there was none.
type answer struct {
	At     time.Time
	Status int
}

// run asks until ctx ends.
func (q *inquiry) run(ctx context.Context) {
	start := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		status := 0
		q.client.Get().AbsPath(q.paths[n%len(q.paths)]).Do(ctx).StatusCode(&status)
		if ctx.Err() != nil {
			return
		}
		a := answer{time.Now(), status}
		q.note(a)
		if q.tell != nil {
			q.tell(a)
		}
		sleepUntil(ctx, start.Add(time.Since(start).Truncate(askEvery)+askEvery))
	}
}

func (q *inquiry) note(a answer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seen = append(q.seen, a)
}

// told returns the answers so far.
func (q *inquiry) told() answers {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clip(q.seen)
}

// await waits until the newest answer has this status, and returns when the first
// of that row came.
func (q *inquiry) await(t *testing.T, status int, limit time.Duration) time.Time {
	t.Helper()
	if !poll.Until(t.Context(), limit, func() bool { return len(q.told().row(status)) > 0 }) {
		t.Fatalf("no answer of %d within %v:\n%v", status, limit, q.told())
	}
	return q.told().row(status)[0].At
}

// answers are in the order in which they came.
type answers []answer

// row returns the newest answers that have this status, without another between.
func (a answers) row(status int) answers {
	i := len(a)
	for i > 0 && a[i-1].Status == status {
		i--
	}
	return a[i:]
}

// before returns those that came before a moment.
func (a answers) before(moment time.Time) answers {
	i := len(a)
	for i > 0 && a[i-1].At.After(moment) {
		i--
	}
	return a[:i]
}

// since returns those that came at a moment or later.
func (a answers) since(moment time.Time) answers { return a[len(a.before(moment.Add(-1))):] }

// count returns how many have this status.
func (a answers) count(status int) (n int) {
	for _, one := range a {
		if one.Status == status {
			n++
		}
	}
	return n
}

func (a answers) longestGap() (longest time.Duration) {
	for i := 1; i < len(a); i++ {
		longest = max(longest, a[i].At.Sub(a[i-1].At))
	}
	return longest
}

// String tells the rows of equal answers.
func (a answers) String() (out string) {
	for len(a) > 0 {
		n := 1
		for n < len(a) && a[n].Status == a[0].Status {
			n++
		}
		out += fmt.Sprintf("%s: %d times %d (%s)\n", a[0].At.Format("15:04:05.000"), n, a[0].Status, http.StatusText(a[0].Status))
		a = a[n:]
	}
	return out
}
