// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"
)

// report is what was found, as JSON. Empty resourceVersions were not read.
type report struct {
	Verdict verdict  `json:"verdict"`
	Exit    int      `json:"exit"`
	Frozen  []string `json:"frozen_servers"`
	Checks  []check  `json:"checks"`
}

// check is about one kind on one server.
type check struct {
	Server    string    `json:"server"`
	Resource  string    `json:"resource"`
	Namespace string    `json:"namespace,omitempty"`
	Verdict   verdict   `json:"verdict"`
	Reason    string    `json:"reason"`
	Samples   []reading `json:"samples"`
}

// reading is one sample.
type reading struct {
	Time     time.Time `json:"time"`
	Quorum   string    `json:"quorum_rv"`
	Seconds  float64   `json:"quorum_s"` // that the consistent LIST took
	Refused  bool      `json:"quorum_refused,omitempty"`
	Cache    string    `json:"cache_rv"`
	Object   string    `json:"object,omitempty"`
	Live     string    `json:"object_rv,omitempty"`
	Cached   string    `json:"object_cached_rv,omitempty"`
	Progress *bool     `json:"quiet_kind_keeps_up,omitempty"` // asked if the LIST waited
	Error    string    `json:"error,omitempty"`
}

func newReport(subjects []*subject) report {
	r := report{Frozen: []string{}}
	var verdicts []verdict
	var stopped []*subject
	for _, s := range subjects {
		f := judge(s.samples)
		verdicts = append(verdicts, f.verdict)
		if f.verdict == frozen {
			stopped = append(stopped, s)
		}
		c := check{
			Server: s.server.name, Resource: s.target.resource.GroupResource().String(), Namespace: s.target.namespace(),
			Verdict: f.verdict, Reason: f.reason,
		}
		for _, sample := range s.samples {
			c.Samples = append(c.Samples, sample.reading())
		}
		r.Checks = append(r.Checks, c)
	}
	r.Verdict = worst(verdicts)
	r.Exit = r.Verdict.exit()
	r.Frozen = append(r.Frozen, names(stopped)...)
	return r
}

func (s sample) reading() reading {
	r := reading{
		Time: s.at.UTC(), Quorum: s.quorum, Seconds: math.Round(s.took.Seconds()*1000) / 1000, Refused: s.held, Cache: s.cache,
		Live: s.live, Cached: s.cached,
	}
	if s.object.Name != "" {
		r.Object = strings.TrimPrefix(s.object.String(), "/")
	}
	if s.behind() && s.waited() {
		r.Progress = new(s.progress)
	}
	if s.err != nil {
		r.Error = s.err.Error()
	}
	return r
}

func (r report) write(w io.Writer, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SERVER\tKIND\tVERDICT\tDATASTORE\tCACHE\tLIST\tSAMPLES\tREASON")
	for _, c := range r.Checks {
		kind := c.Resource
		if c.Namespace != "" {
			kind += " in " + c.Namespace
		}
		var last reading
		if n := len(c.Samples); n > 0 {
			last = c.Samples[n-1]
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%.3fs\t%d\t%s\n", c.Server, kind, c.Verdict, dash(last.Quorum), dash(last.Cache), last.Seconds, len(c.Samples), c.Reason)
	}
	return t.Flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
