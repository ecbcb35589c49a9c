// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
)

// curesOf says what was tried, in the order in which it is.
func curesOf(cures map[string]flightrecorder.CureSum) string {
	var out string
	for _, name := range slices.SortedFunc(maps.Keys(cures), cheaper) {
		c := cures[name]
		if c.Tried == 0 {
			continue
		}
		if out != "" {
			out += "; "
		}
		out += fmt.Sprintf("%s: tried %s, helped %s", shown(name, nameLimit), times(c.Tried), times(c.Helped))
	}
	if out == "" {
		return "none was needed"
	}
	return out
}

// cheaper orders cures by what they cost, which is the order in which they are tried.
func cheaper(a, b string) int {
	order := func(name string) int {
		all := []freshness.Rung{freshness.Resume, freshness.Relist, freshness.List, freshness.Reconnect}
		return slices.IndexFunc(all, func(r freshness.Rung) bool { return r.String() == name })
	}
	return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a, b))
}

func times[integer int | uint64](n integer) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return number(n) + " times"
}
