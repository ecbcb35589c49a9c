// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// startTime is what the control plane takes until it is ready, about.
const startTime = 10 * time.Second

// introduce says what will happen and how long it takes.
func introduce(f fault, limit time.Duration, exactly bool) string {
	after := f.usually
	if exactly {
		after = limit
	}
	return fmt.Sprintf(`freshwatch quickstart: %s

Two copies of one operator run in this process against a real kube-apiserver and etcd. Both watch
ConfigMaps and Widgets, a custom resource. "stock" is plain controller-runtime, "guarded" is the
same with freshwatch, which proves each informer fresh about once a minute: it asks the API server
how far it is, and the informer has to get there.

%s

This takes about %s.

`, f.name, f.expect, minutes(startTime+f.warmUp+after))
}

// summarise says what came of it and what that means.
func summarise(f fault, o outcome, failures []string) string {
	var b strings.Builder
	b.WriteString("\nSummary, in seconds since the fault:\n")
	row := func(name, guarded, stock string) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-26s  %-44s  %s", name, guarded, stock), " ") + "\n")
	}
	row("", guarded, stock)
	if f.name == none().name {
		row("requests", o.guarded.cost.text(), o.stock.cost.text())
		row("proofs for Widgets", fmt.Sprint(o.quiet.proofs), "-")
		row("  longest time between two", short(o.quiet.longestGap), "-")
		row("  largest staleness bound", short(o.quiet.largestBound), "unknown")
	} else {
		row("saw the edited Widget", o.sawText(o.guarded, gadget), o.sawText(o.stock, gadget))
		row("saw the edited ConfigMap", o.sawText(o.guarded, settings), o.sawText(o.stock, settings))
		row("noticed the fault", f.noticed(o), f.stock)
		row("requests until it saw it", o.guarded.cost.text(), o.stock.cost.text())
	}
	row("verdicts on ConfigMaps", list(distinct(append([]freshness.Verdict{freshness.Fresh}, o.verdicts...))), "-")
	row("cures tried", list(o.cures), "-")
	row("objects listed again", fmt.Sprint(o.guarded.cost.relisted), fmt.Sprint(o.stock.cost.relisted))
	row("liveness probe", probe(o.liveness), "green")
	if len(failures) == 0 {
		fmt.Fprintf(&b, "\nWhat it means\n%s\n\nThe guarded operator did what is promised of it.\n", f.meaning)
		return b.String()
	}
	b.WriteString("\nThe guarded operator did NOT do what is promised of it:\n")
	for _, text := range failures {
		b.WriteString("  - " + wrap(text, 4) + "\n")
	}
	return b.String()
}

func (o outcome) sawText(s side, obj object) string {
	if !s.saw(obj) {
		return "not in " + short(o.waited)
	}
	return since(s.seen[obj])
}

func (o outcome) detectedText() string {
	if o.detected == 0 {
		return "never"
	}
	return since(o.detected)
}

// text sums the requests up, by verb.
func (c cost) text() string {
	if len(c.requests) == 0 {
		return "0"
	}
	var parts []string
	for _, verb := range slices.Sorted(maps.Keys(c.requests)) {
		parts = append(parts, fmt.Sprintf("%d %s", c.requests[verb], verb))
	}
	return fmt.Sprintf("%d (%s)", c.total(), strings.Join(parts, ", "))
}

// total is the number of requests.
func (c cost) total() int {
	sum := 0
	for _, n := range c.requests {
		sum += n
	}
	return sum
}

// distinct leaves out what has come before.
func distinct[T comparable](items []T) []T {
	var out []T
	for _, item := range items {
		if !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	return out
}

func list[T fmt.Stringer](items []T) string {
	if len(items) == 0 {
		return "none"
	}
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = item.String()
	}
	return strings.Join(names, ", ")
}

// noticed tells how the guarded operator did.
func (f fault) noticed(o outcome) string {
	if f.guarded != "" {
		return f.guarded
	}
	return o.detectedText()
}

func probe(err error) string {
	if err != nil {
		return "FAILED: " + err.Error()
	}
	return "green"
}

// minutes rounds to what a person plans with.
func minutes(d time.Duration) string {
	text := d.Round(10 * time.Second).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		return short + "m"
	}
	return text
}
