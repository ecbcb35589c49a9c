// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/internal/subprocess"
)

// process is the test's end of a replica.
type process struct{ *subprocess.Process[report] }

func startProcess(t *testing.T, s spec) (*process, error) {
	p, err := subprocess.Start[report](t, s.Name, replicaVariable, s)
	return &process{p}, err
}

func (p *process) address() string {
	return p.Last(func(r report) bool { return r.Address != "" }).Address
}

func (p *process) sees() string { return p.Last(func(r report) bool { return r.Sees != "" }).Sees }

func (p *process) leads() bool { return p.Last(func(r report) bool { return r.Leads }).Leads }

// reading returns what the canary says now.
func (p *process) reading() reading {
	if r := p.Last(func(r report) bool { return r.Reading != nil }).Reading; r != nil {
		return *r
	}
	return reading{}
}

// logged tells whether the canary has logged something.
func (p *process) logged(part string) bool {
	return slices.ContainsFunc(p.Reports(), func(r report) bool { return strings.Contains(r.Log, part) })
}

// spell is a time in which the canary's state was the same.
type spell struct {
	at    time.Time
	state string
}

func (s spell) String() string { return s.at.Format("15:04:05.0 ") + s.state }

// spells returns the states, in order.
func (p *process) spells() (out []spell) {
	for _, r := range p.Reports() {
		if r.Reading != nil && (len(out) == 0 || out[len(out)-1].state != r.Reading.State) {
			out = append(out, spell{r.At, r.Reading.State})
		}
	}
	return out
}

// states returns the states without their times.
func (p *process) states() (out []string) {
	for _, s := range p.spells() {
		out = append(out, s.state)
	}
	return out
}

// unalive returns when Check failed first, and why.
func (p *process) unalive() (at time.Time, why string) {
	for _, r := range p.Reports() {
		if r.Reading != nil && r.Reading.Liveness != "" {
			return r.At, r.Reading.Liveness
		}
	}
	return time.Time{}, ""
}
