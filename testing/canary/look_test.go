// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// await waits until cond holds, and returns how long that took.
func await(t *testing.T, limit time.Duration, what string, cond func() bool, of ...*pod) time.Duration {
	t.Helper()
	begin := time.Now()
	if !poll.Until(t.Context(), limit, cond) {
		t.Fatalf("not within %v: %s\n%s", limit, what, tellAll(of))
	}
	return time.Since(begin)
}

// holds fails unless cond holds for all of d.
func holds(t *testing.T, d time.Duration, what string, cond func() bool, of ...*pod) {
	t.Helper()
	begin := time.Now()
	if poll.Until(t.Context(), d, func() bool { return !cond() }) {
		t.Fatalf("after %v not any more: %s\n%s", time.Since(begin).Round(time.Millisecond), what, tellAll(of))
	}
}

func (p *pod) is(state string) func() bool {
	return func() bool { return p.now().reading().State == state }
}

func (p *pod) sees(color string) func() bool {
	return func() bool { return p.now().sees() == color }
}

// awaitFresh waits until the canary's writes come back.
func (p *pod) awaitFresh(t *testing.T) time.Duration {
	t.Helper()
	return await(t, patience, "fresh", p.is("Fresh"), p)
}

// awaitLasting waits until the canary has been in a state for four Intervals, and
// returns when that began.
func (p *pod) awaitLasting(t *testing.T, state string) (since time.Time) {
	t.Helper()
	await(t, patience, "for good "+state, func() bool {
		spells := p.now().spells()
		if len(spells) == 0 || spells[len(spells)-1].state != state {
			return false
		}
		since = spells[len(spells)-1].at
		return time.Since(since) >= 4*interval
	}, p)
	return since
}

// wantAlive fails if liveness, or readiness, has ever failed, or the process was
// followed by another.
func (p *pod) wantAlive(t *testing.T) {
	t.Helper()
	for _, l := range p.all() {
		if at, why := l.unalive(); why != "" {
			t.Errorf("%s: liveness failed at %v: %s\n%s", l.Name, at.Format(time.TimeOnly), why, p.tell())
		}
	}
	if n := len(p.all()); n > 1 {
		t.Errorf("%s is at its %d. process\n%s", p.name, n, p.tell())
	}
	p.wantReady(t)
}

// wantReady fails if readiness has ever failed.
func (p *pod) wantReady(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.unready) > 0 {
		t.Errorf("%s was not ready: %q", p.name, p.unready)
	}
}

// wantOnly fails if the canary was ever in another state.
func (p *process) wantOnly(t *testing.T, states ...string) {
	t.Helper()
	for _, s := range p.spells() {
		if !slices.Contains(states, s.state) {
			t.Errorf("%s was %s at %v, want only %v: %v", p.Name, s.state, s.at.Format(time.TimeOnly), states, p.spells())
		}
	}
}

// metric returns the sum of a metric's series that have all of these labels.
func (p *pod) metric(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	text, err := p.read(t.Context(), p.now(), "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	sum, found := 0.0, false
	lines := bufio.NewScanner(strings.NewReader(text))
next:
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasPrefix(line, name+"{") {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(line, l) {
				continue next
			}
		}
		v, err := strconv.ParseFloat(line[strings.LastIndex(line, " ")+1:], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum, found = sum+v, true
	}
	if !found {
		t.Fatalf("no metric %s with %v in\n%s", name, labels, text)
	}
	return sum
}

// tell returns what a reader wants to know when something is wrong.
func (p *pod) tell() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for _, l := range p.lives {
		fmt.Fprintf(&b, "%s: %v\n", l.Name, l.spells())
		for _, r := range l.Reports() {
			at := r.At.Format("15:04:05.0")
			switch {
			case r.Log != "":
				fmt.Fprintf(&b, "  %s log %s\n", at, r.Log)
			case r.Sees != "":
				fmt.Fprintf(&b, "  %s sees %s\n", at, r.Sees)
			case r.Leads:
				fmt.Fprintf(&b, "  %s leads\n", at)
			case r.Reading != nil && r.Reading.Liveness != "":
				fmt.Fprintf(&b, "  %s liveness fails: %s\n", at, r.Reading.Liveness)
			}
		}
	}
	fmt.Fprintf(&b, "restarts: %v\n", p.restarts)
	return b.String()
}

func tellAll(pods []*pod) string {
	var b strings.Builder
	for _, p := range pods {
		b.WriteString(p.tell())
	}
	return b.String()
}

// figures logs what a scenario has measured, durations in seconds.
func figures(t *testing.T, of map[string]any) {
	t.Helper()
	for k, v := range of {
		if d, ok := v.(time.Duration); ok {
			of[k] = float64(d.Round(10*time.Millisecond)) / float64(time.Second)
		}
	}
	of["scenario"] = t.Name()
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", text)
}
