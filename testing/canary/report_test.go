// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"strings"
	"time"

	"github.com/freshwatch/freshwatch/watchcanary"
)

// report is a line from a replica.
type report struct {
	At      time.Time
	Address string   `json:",omitempty"` // it is probed at
	Leads   bool     `json:",omitempty"`
	Sees    string   `json:",omitempty"` // the color that the ConfigMap now has
	Log     string   `json:",omitempty"` // a line of the canary
	Reading *reading `json:",omitempty"`
	Samples int      `json:",omitempty"` // readings so far, those that changed nothing included
}

// reading is what a canary says at one moment.
type reading struct {
	State, Reason string
	Restarts      int
	Exhausted     bool
	Missing       string
	Liveness      string // why Check fails; "": it passes
}

func readingOf(c *watchcanary.Canary) reading {
	st := c.Status()
	r := reading{
		State: st.State.String(), Reason: st.Reason, Restarts: st.Restarts,
		Exhausted: st.Exhausted, Missing: strings.Join(st.Missing, " "),
	}
	if err := c.Check(nil); err != nil {
		r.Liveness = err.Error()
	}
	return r
}
