// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package snapshots makes snapshots of flight recorders, for the tests of what shows them:
// of an operator that is well, of one whose watch has fallen silent, of one with a thousand
// informers. Each is the same whenever it is made.
package snapshots

import (
	"time"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
)

// Now is the time of every snapshot.
func Now() time.Time { return time.Date(2026, time.March, 14, 3, 9, 26, 0, time.UTC) }

// ago is a moment, in seconds before Now.
func ago(seconds float64) time.Time {
	return Now().Add(-time.Duration(seconds * float64(time.Second)))
}

// Ends of the connections of all of them.
const (
	first  = "10.244.3.17:48212"
	second = "10.244.3.17:51930"
	server = "10.96.0.1:443"
)

func stream(since, lastByte float64, local string) flightrecorder.Watch {
	return flightrecorder.Watch{
		Open: true, Since: ago(since), Answered: ago(since - .012), TimeoutSeconds: 186,
		Protocol: "HTTP/2.0", LastByte: ago(lastByte), Bytes: 18_231, Local: local, Remote: server, Reused: true,
	}
}

// Informer returns one that is fresh.
func Informer(name freshness.Informer, bound float64) flightrecorder.Informer {
	return flightrecorder.Informer{
		Name: name.String(), Group: name.Group, Version: name.Version, Resource: name.Resource, Namespace: name.Namespace,
		Verdict: freshness.Fresh, Reason: "holds every change up to " + time.Duration(bound*float64(time.Second)).Round(time.Second).String() + " ago",
		Since: ago(9_000), FreshAsOf: ago(bound), Bound: bound, Limit: 75, RV: "884213", Moved: ago(bound - .8), Bookmark: ago(bound - .8), LastRead: ago(bound),
		Watch: stream(94, bound-.8, first), Reads: 152, Proofs: 151,
		Cures: map[string]flightrecorder.CureSum{"resume": {}, "relist": {}, "list": {}, "reconnect": {}},
		Log: []flightrecorder.Entry{
			{Time: ago(9_000), Count: 1, What: "Fresh, was Syncing: holds every change up to 0s ago"},
			{Time: ago(280), Count: 1, What: "watch over " + first + " to " + server + " ended after 3m5.9s by server; 18231 bytes, the last 2.1s before"},
		},
	}
}

func configMaps() freshness.Informer {
	return freshness.Informer{Version: "v1", Resource: "configmaps", Namespace: "prod"}
}

func widgets() freshness.Informer {
	return freshness.Informer{Group: "example.com", Version: "v1", Resource: "widgets"}
}

// trips are an hour of a canary's, with a slow quarter of an hour.
func trips() []flightrecorder.RoundTrip {
	var out []flightrecorder.RoundTrip
	for i := range 60 {
		took := .006 + float64(i*7919%13)/1000
		if i > 35 && i < 48 {
			took *= float64(4 + i%5*6)
		}
		out = append(out, flightrecorder.RoundTrip{At: ago(float64(60-i)*60 - 22), Seconds: took})
	}
	return out
}

func connections() []flightrecorder.Connection {
	return []flightrecorder.Connection{
		{Local: first, Remote: server, Opened: ago(9_010), Protocol: "HTTP/2.0", LastByte: ago(4), Watches: 5, Requests: 812},
		{Local: second, Remote: server, Opened: ago(1_480), Protocol: "HTTP/2.0", LastByte: ago(11), Watches: 1, Requests: 9},
	}
}

// Healthy is of an operator that is well, and has been for a while.
func Healthy() flightrecorder.Snapshot {
	s := flightrecorder.Snapshot{
		Time: Now(), Began: ago(9_020), Healthy: true,
		Headline: "All 6 informers are fresh.",
		Informers: []flightrecorder.Informer{
			Informer(configMaps(), 12.4),
			Informer(freshness.Informer{Group: "apps", Version: "v1", Resource: "deployments", Namespace: "prod"}, 41.2),
			Informer(freshness.Informer{Version: "v1", Resource: "pods", Namespace: "prod"}, 1.2),
			Informer(freshness.Informer{Version: "v1", Resource: "secrets", Namespace: "prod"}, 55.9),
			Informer(freshness.Informer{Version: "v1", Resource: "services"}, 23),
			Informer(widgets(), 8.8),
		},
		Connections: connections(),
		Canary:      &flightrecorder.Canary{State: "Fresh", Reason: "writes come back", Since: ago(8_990), Trips: trips()},
		Reconciles: []flightrecorder.Reconcile{
			{Controller: "widgets", Request: "prod/checkout", Age: 2.31, Stage: "Running"},
			{Controller: "deployments", Request: "prod/frontend", Age: .084, Stage: "Running"},
		},
		Incidents: []flightrecorder.Incident{lostConnection(), healed()},
		Log: []flightrecorder.Entry{
			{Time: ago(9_010), Count: 1, What: "opened " + first + " to " + server},
			{Time: ago(4_100), Until: ago(3_980), Count: 3, What: "no connection to " + server},
			{Time: ago(1_481), Count: 1, What: "closed 10.244.3.17:50012 to " + server + ": ping, it had carried 41 requests"},
			{Time: ago(1_480), Count: 1, What: "opened " + second + " to " + server},
		},
	}
	s.Diagnosis = "All 6 informers are fresh; last, 24m ago: " + s.Incidents[0].Diagnosis
	return s
}
