// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package snapshots

import (
	"time"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
)

// silence is what a diagnosis of a stream that has fallen silent says.
const silence = "The watch of configmaps/v1 in prod over " + first + " to " + server + " fell silent at 03:07:58Z while 4 of 4 other watches on its connection went on: " +
	"this one stream was lost, by something on the way that forwards streams one by one (a proxy, a load balancer) or by the API server"

// silent is one that goes on.
func silent() flightrecorder.Incident {
	watch := stream(152, 88, first)
	return flightrecorder.Incident{
		ID: 7, Informer: configMaps(), Began: ago(22), Verdict: freshness.Stalled, Layer: flightrecorder.LayerStream, Diagnosis: silence + "; tried so far: resume.",
		Evidence: flightrecorder.Evidence{
			Reason: "the API server has resourceVersion 884213 in its cache, this informer is at 884127: its stream is dead",
			Behind: freshness.LevelStream, Watch: watch, Store: "884127", Moved: ago(88), By: "bookmark or list",
			Read: "884213", ReadAt: ago(25), Server: flightrecorder.ServerAnswer{Time: ago(21.6), State: freshness.ServerReached, ResourceVersion: "884220", SameConnection: true},
			SameConnection: flightrecorder.Neighbours{Watches: 4, Alive: 4}, OtherConnections: flightrecorder.Neighbours{Watches: 1, Alive: 1},
			Informers: flightrecorder.Share{Some: 1, Of: 6},
			Cures: []flightrecorder.Cure{
				{Cure: freshness.Resume, At: ago(21), Failed: true, Done: ago(14.5)},
				{Cure: freshness.Relist, At: ago(14)},
			},
		},
	}
}

// healed is one that is over.
func healed() flightrecorder.Incident {
	watch := stream(5_460, 5_390, first)
	watch.Open, watch.Ended, watch.EndedBy = false, ago(5_327), "client"
	return flightrecorder.Incident{
		ID: 3, Informer: widgets(), Began: ago(5_327), Ended: ago(5_324.6), Verdict: freshness.Stalled, Layer: flightrecorder.LayerStream,
		Diagnosis: "The watch of widgets.example.com/v1 over " + first + " to " + server + " fell silent at 01:39:36Z while the API server answered over that very connection: " +
			"this one stream was lost, by something on the way that forwards streams one by one (a proxy, a load balancer) or by the API server; resume healed it, 65s after its last sign of life.",
		Evidence: flightrecorder.Evidence{
			Reason: "the API server has resourceVersion 811040 in its cache, this informer is at 810992: its stream is dead",
			Behind: freshness.LevelStream, Watch: watch, Store: "810992", Moved: ago(5_391), By: "event",
			Read: "811040", ReadAt: ago(5_330), Server: flightrecorder.ServerAnswer{Time: ago(5_327), State: freshness.ServerReached, ResourceVersion: "811041", SameConnection: true},
			OtherConnections: flightrecorder.Neighbours{Watches: 3, Alive: 2}, Informers: flightrecorder.Share{Some: 1, Of: 6},
			Cures: []flightrecorder.Cure{{Cure: freshness.Resume, At: ago(5_326.9), Worked: true, Done: ago(5_324.6)}},
		},
	}
}

// lostConnection is a connection's.
func lostConnection() flightrecorder.Incident {
	const local = "10.244.3.17:50012"
	return flightrecorder.Incident{
		ID: 5, Began: ago(1_496), Ended: ago(1_481), Layer: flightrecorder.LayerConnection,
		Diagnosis: "The connection " + local + " to " + server + " brought nothing since 02:44:30Z and did not answer a PING: a load balancer, a NAT or a firewall dropped it without FIN or RST, " +
			"or the far end stands still; it was given up, with 1 watch.",
		Evidence: flightrecorder.Evidence{
			Watch:    flightrecorder.Watch{Since: ago(3_900), Protocol: "HTTP/2.0", LastByte: ago(1_496), Local: local, Remote: server, Reused: true, EndedBy: "ping", Ended: ago(1_481)},
			PingLost: true, Carried: 1, Informers: flightrecorder.Share{Of: 6},
		},
	}
}

// Stalled is of an operator one of whose watches has fallen silent, and whose first cure
// has not helped.
func Stalled() flightrecorder.Snapshot {
	s := Healthy()
	i := silent()
	s.Healthy, s.Headline, s.Diagnosis = false, i.Diagnosis, i.Diagnosis
	s.Incidents = append([]flightrecorder.Incident{i}, s.Incidents...)
	in := &s.Informers[0]
	in.Verdict, in.Reason, in.Since, in.Behind = freshness.Stalled, i.Evidence.Reason, ago(21), freshness.LevelStream
	in.FreshAsOf, in.Bound, in.RV, in.Moved, in.Bookmark, in.LastRead = ago(88.9), 88.9, "884127", ago(88), ago(88), ago(25)
	in.Watch, in.Doubts = stream(13.8, 13.8, first), 1
	in.Cures = map[string]flightrecorder.CureSum{"resume": {Tried: 1}, "relist": {Tried: 1}, "list": {}, "reconnect": {}}
	for _, e := range []struct {
		before float64
		what   string
	}{
		{22, "Suspect, was Fresh: a proof is overdue, and the API server is asked why"},
		{21.6, "the API server's watch cache is at 884220 and has what is missing here, over the connection of the watch"},
		{21, "Stalled, was Suspect: " + i.Evidence.Reason},
		{21, "curing by resume"},
		{14.5, "resume did not help"},
		{14, "curing by relist"},
	} {
		in.Log = append(in.Log, flightrecorder.Entry{Time: ago(e.before), Count: 1, What: e.what})
	}
	return s
}

// Troubled is of an operator in which everything is wrong at once.
func Troubled() flightrecorder.Snapshot {
	s := Stalled()
	for k, v := range map[int]freshness.Verdict{1: freshness.ControlPlaneStalled, 2: freshness.Unreachable, 3: freshness.Blind, 4: freshness.Diverged} {
		in := &s.Informers[k]
		in.Verdict, in.Since, in.Reason = v, ago(30), "as the verdict says"
	}
	s.Informers[5].Behind, s.Informers[5].Pending, s.Informers[5].Blocked = freshness.LevelHandlers, 1_204, 95
	s.Informers = append(s.Informers,
		flightrecorder.Informer{Name: "jobs.batch/v1", Group: "batch", Version: "v1", Resource: "jobs", Verdict: freshness.Syncing, Reason: "the initial list has not ended", Since: ago(9), Limit: 75, Cures: map[string]flightrecorder.CureSum{}},
		Informer(freshness.Informer{Version: "v1", Resource: "nodes"}, 3),
	)
	s.Informers[6].Watch = flightrecorder.Watch{Open: true, Since: ago(9)}
	suspect := Informer(freshness.Informer{Version: "v1", Resource: "endpoints"}, 64)
	suspect.Verdict, suspect.Reason = freshness.Suspect, "a proof is overdue"
	s.Informers = append(s.Informers, suspect)
	s.Reconciles = append([]flightrecorder.Reconcile{
		{Controller: "widgets", Request: "prod/a-widget-that-never-returns", Age: 1_421, Stage: "Failing"},
		{Controller: "widgets", Request: "prod/late", Age: 903, Stage: "Overrun"},
	}, s.Reconciles...)
	s.Canary.State, s.Canary.Reason, s.Canary.Since, s.Canary.Unseen = "Stalled", "a write acknowledged 1m28s ago has not come back", ago(78), 88
	s.Canary.Restarts, s.Canary.Exhausted, s.Canary.Missing = 3, true, []string{"update"}
	return s
}

// Empty is of a recorder that knows nothing.
func Empty() flightrecorder.Snapshot {
	return flightrecorder.Snapshot{
		Time: Now(), Began: ago(2), Healthy: true,
		Headline:  "No informer is known: none was made through the monitor, or nothing has happened yet.",
		Diagnosis: "No informer is known: none was made through the monitor, or nothing has happened yet.",
		Informers: []flightrecorder.Informer{}, Connections: []flightrecorder.Connection{}, Reconciles: []flightrecorder.Reconcile{}, Incidents: []flightrecorder.Incident{}, Log: []flightrecorder.Entry{},
	}
}

// Later returns a snapshot so much after another, in which nothing has happened.
func Later(s flightrecorder.Snapshot, d time.Duration) flightrecorder.Snapshot {
	s.Time = s.Time.Add(d)
	s.Informers = append([]flightrecorder.Informer(nil), s.Informers...)
	for i := range s.Informers {
		if !s.Informers[i].FreshAsOf.IsZero() {
			s.Informers[i].Bound += d.Seconds()
		}
	}
	return s
}
