// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"time"
)

// figures is the outcome as JSON. Times are in seconds since the fault; null
// stands for what did not happen.
type figures struct {
	Fault   string         `json:"fault"`
	Guarded guardedFigures `json:"guarded"`
	Stock   stockFigures   `json:"stock"`
	Quiet   *quietFigures  `json:"quiet,omitempty"` // of the fault "none"
}

type guardedFigures struct {
	Detected *float64 `json:"detected_s"`
	Healed   *float64 `json:"healed_s"` // when it saw the edited ConfigMap
	Requests int      `json:"requests"` // until then
	Relisted int64    `json:"relisted_objects"`
}

type stockFigures struct {
	Seen   *float64 `json:"seen_s"`
	Waited float64  `json:"waited_s"`
}

type quietFigures struct {
	Proofs       int     `json:"proofs"`
	LongestGap   float64 `json:"longest_gap_s"`
	LargestBound float64 `json:"largest_bound_s"`
	Cures        int     `json:"cures"`
}

func (o outcome) figures() figures {
	f := figures{
		Fault: o.fault,
		Guarded: guardedFigures{
			Healed: seenSeconds(o.guarded), Requests: o.guarded.cost.total(), Relisted: o.guarded.cost.relisted,
		},
		Stock: stockFigures{Seen: seenSeconds(o.stock), Waited: seconds(o.waited)},
	}
	if o.detected > 0 {
		f.Guarded.Detected = new(seconds(o.detected))
	}
	if o.fault == none().name {
		f.Quiet = &quietFigures{
			Proofs: o.quiet.proofs, LongestGap: seconds(o.quiet.longestGap),
			LargestBound: seconds(o.quiet.largestBound), Cures: len(o.cures),
		}
	}
	return f
}

// seconds rounds to milliseconds.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

func seenSeconds(s side) *float64 {
	if !s.saw(settings) {
		return nil
	}
	return new(seconds(s.seen[settings]))
}

// writeJSON writes the figures to the named file, to stdout if that is "-", and
// nowhere if it is empty.
func writeJSON(name string, stdout io.Writer, o outcome) error {
	if name == "" {
		return nil
	}
	text, err := json.MarshalIndent(o.figures(), "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if name == "-" {
		_, err = stdout.Write(text)
		return err
	}
	return os.WriteFile(name, text, 0o644)
}
