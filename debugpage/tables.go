// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"cmp"
	"slices"
	"time"

	"github.com/freshwatch/freshwatch/flightrecorder"
)

const (
	connectionsMost = 100
	reconcilesMost  = 100
	connectionsLog  = 128
)

// connection is one as it is shown.
type connection struct {
	Ends              part
	Protocol          string
	Opened, LastByte  moment
	Watches, Requests string
}

// connections are those that are open, the oldest first, and what has happened to those
// that there were.
type connections struct {
	All  int
	Open []connection
	More int
	Log  []entry
	Left int // of the log
}

func connectionsOf(s flightrecorder.Snapshot) connections {
	out := connections{All: len(s.Connections)}
	shows := s.Connections
	if len(shows) > connectionsMost {
		shows, out.More = shows[:connectionsMost], len(shows)-connectionsMost
	}
	for _, c := range shows {
		protocol := shown(c.Protocol, nameLimit)
		if protocol == "" {
			protocol = "not known"
		}
		out.Open = append(out.Open, connection{
			Ends: endsOf(c.Local, c.Remote), Protocol: protocol, Opened: momentOf(c.Opened, long(s.Time.Sub(c.Opened).Truncate(time.Second))), LastByte: since(s.Time, c.LastByte),
			Watches: number(c.Watches), Requests: number(c.Requests),
		})
	}
	out.Log, out.Left = entriesOf(s.Time, s.Log, connectionsLog)
	return out
}

// running is a reconcile as it is shown.
type running struct {
	Face                face
	Controller, Request string
	Age                 string
}

// reconciles are those that run, the oldest first.
type reconciles struct {
	All    int
	Wedged int
	Run    []running
	More   int
}

func reconcilesOf(s flightrecorder.Snapshot) reconciles {
	out := reconciles{All: len(s.Reconciles)}
	sorted := slices.SortedStableFunc(slices.Values(s.Reconciles), func(a, b flightrecorder.Reconcile) int { return cmp.Compare(b.Age, a.Age) })
	for _, r := range sorted {
		if r.Wedged() {
			out.Wedged++
		}
	}
	if len(sorted) > reconcilesMost {
		sorted, out.More = sorted[:reconcilesMost], len(sorted)-reconcilesMost
	}
	for _, r := range sorted {
		out.Run = append(out.Run, running{Face: faceOfReconcile(r), Controller: shown(r.Controller, nameLimit), Request: shown(r.Request, nameLimit), Age: long(seconds(r.Age))})
	}
	return out
}
