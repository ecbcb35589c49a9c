// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

// panel is what a panel asks, and how it shows the answer.
type panel struct {
	title       string
	description string // what it answers, and what to do about it
	unit        string
	width       uint32 // of 24
	shape       shape
	queries     []query
	states      []state // for the shape states: the first has the value 1
	limit       bool    // the last query is a limit
}

// shape is how a panel shows numbers.
type shape int

const (
	asLines   shape = iota
	asBars          // what happened, stacked
	asStates        // a timeline of states, a line for each series
	asHeatmap       // a histogram over time
)

// query is one of a panel's.
type query struct{ expr, legend string }

// state is a name and a colour for a number.
type state struct{ name, color string }

// row is a question, and the panels that answer it.
type row struct {
	title  string
	panels []panel
}

// The colours of states: well, not known, and two degrees of bad.
const (
	well    = "green"
	unknown = "blue"
	nothing = "#808080"
	doubt   = "yellow"
	bad     = "orange"
	worst   = "red"
)
