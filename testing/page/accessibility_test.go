// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/internal/snapshots"
	"github.com/freshwatch/freshwatch/testing/page/internal/chromium"
)

// told is a thing that assistive technology is told of.
type told struct {
	role, name, description, value string
	properties                     map[string]string
}

func content(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	var out any
	if json.Unmarshal(v.Value, &out) != nil || out == nil {
		return ""
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(fmt.Sprint(out), "\u00a0", " ")), " ")
}

// tree returns all of them, in the order of the document.
func tree(b *tab) []told {
	b.t.Helper()
	nodes, err := b.Accessibility()
	b.check(err)
	byID := map[accessibility.NodeID]*accessibility.Node{}
	for _, n := range nodes {
		byID[n.NodeID] = n
	}
	var out []told
	var walk func(n *accessibility.Node)
	walk = func(n *accessibility.Node) {
		if !n.Ignored {
			one := told{role: content(n.Role), name: content(n.Name), description: content(n.Description), value: content(n.Value), properties: map[string]string{}}
			for _, p := range n.Properties {
				one.properties[string(p.Name)] = content(p.Value)
			}
			out = append(out, one)
		}
		for _, id := range n.ChildIDs {
			if child := byID[id]; child != nil {
				walk(child)
			}
		}
	}
	walk(nodes[0])
	return out
}

func ofRole(all []told, role string) []told {
	return slices.DeleteFunc(slices.Clone(all), func(n told) bool { return n.role != role })
}

func namesOf(all []told) []string {
	var out []string
	for _, n := range all {
		out = append(out, n.name)
	}
	return out
}

// TestAccessibilityTree: what is seen is told, too.
func TestAccessibilityTree(t *testing.T) {
	b := newStage(t, snapshots.Stalled()).open(t, chromium.Phone())
	b.await("!document.querySelector('#live').hidden")
	all := tree(b)

	meters := ofRole(all, "meter")
	if len(meters) != 6 {
		t.Errorf("%d meters, want one for each of 6 informers", len(meters))
	}
	for i, want := range []string{"75", "41", "1", "55", "23", "8"} { // the first is 88, and a meter ends at its limit
		if m := meters[min(i, len(meters)-1)]; m.name != "Staleness bound" || m.properties["valuemax"] != "75" || m.value != want {
			t.Errorf("meter %d, which should be at %s: %+v", i, want, m)
		}
	}
	const first = "configmaps/v1 in prod Stalled 88 s of 75 s"
	if !slices.ContainsFunc(ofRole(all, "DisclosureTriangle"), func(n told) bool { return n.name == first }) {
		t.Errorf("no row of the list of informers is called %q, but %q", first, namesOf(ofRole(all, "DisclosureTriangle")))
	}
	if got := ofRole(all, "image"); len(got) != 1 || got[0].name != "Round trips of the canary" || !strings.Contains(got[0].description, "median") {
		t.Errorf("the chart is told as %+v", got)
	}
	want := []string{"Stage", "Controller", "Request", "Running for", "From → to", "Protocol", "Open for", "Last byte", "Watches", "Requests"}
	if diff := cmp.Diff(want, namesOf(ofRole(all, "columnheader"))); diff != "" {
		t.Errorf("headers of tables (-want +got):\n%s", diff)
	}
	for _, role := range []string{"main", "banner", "contentinfo", "navigation"} {
		if n := len(ofRole(all, role)); n != 1 {
			t.Errorf("%d landmarks of role %s, want 1", n, role)
		}
	}
	if diff := cmp.Diff([]string{"Pause refreshing", "Refresh now"}, namesOf(ofRole(all, "button"))); diff != "" {
		t.Errorf("buttons (-want +got):\n%s", diff)
	}
	if got := ofRole(all, "searchbox"); len(got) != 1 || got[0].name != "Filter" {
		t.Errorf("the filter is told as %+v", got)
	}
	if got := ofRole(all, "DisclosureTriangle"); len(got) < 10 || got[0].name != "Evidence of the incident of configmaps/v1 in prod" || got[0].properties["expanded"] != "true" {
		t.Errorf("what can be folded is told as %+v", got)
	}
	for _, n := range all {
		if n.properties["focusable"] == "true" && n.name == "" && n.role != "RootWebArea" && n.role != "paragraph" && n.role != "heading" {
			t.Errorf("a thing that can have the focus has no name: %+v", n)
		}
		if n.role == "paragraph" && n.properties["live"] == "polite" {
			meters = nil // it is there
		}
	}
	if meters != nil {
		t.Error("no paragraph is a polite live region")
	}
}

// TestHeadings: they are in order, and none is left out.
func TestHeadings(t *testing.T) {
	all := scenes()
	for _, name := range names(all) {
		b := newStage(t, all[name]).open(t, chromium.Desktop())
		b.unfold()
		last, first := 0, 0
		for _, h := range ofRole(tree(b), "heading") {
			level := 0
			_, _ = fmt.Sscan(h.properties["level"], &level)
			if level == 1 {
				first++
			}
			if level < 1 || level > last+1 || h.name == "" {
				t.Errorf("%s: heading %q has level %d after %d", name, h.name, level, last)
			}
			last = level
		}
		if first != 1 {
			t.Errorf("%s: %d headings of level 1", name, first)
		}
	}
}

// TestShapes: no two states that matter look alike without colours.
func TestShapes(t *testing.T) {
	b := newStage(t, snapshots.Troubled()).open(t, chromium.Desktop())
	const pairs = "[...document.querySelectorAll('.informer > details > summary')].map((e) => e.querySelector('.tag').textContent + ' ' + e.querySelector('use').getAttribute('href'))"
	word, seen := map[string]string{}, map[string]bool{}
	for _, pair := range eval[[]string](b, pairs) {
		name, shape, _ := strings.Cut(pair, " #")
		if other, ok := word[shape]; ok && other != name {
			t.Errorf("%s and %s have the same shape", name, other)
		}
		word[shape], seen[name] = name, true
	}
	if len(seen) != 9 {
		t.Errorf("%d states were seen, want all 9: %v", len(seen), seen)
	}
}
