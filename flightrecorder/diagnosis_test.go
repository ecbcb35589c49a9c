// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/freshness"
)

var configMaps = freshness.Informer{Version: "v1", Resource: "configmaps", Namespace: "default"}

// silent is a watch that fell silent at noon.
func silent(protocol string) Watch {
	return Watch{Open: true, Since: at(-60), Answered: at(-60), LastByte: noon, Protocol: protocol, Local: "10.0.0.1:40000", Remote: "10.96.0.1:443", Reused: true}
}

func TestDiagnose(t *testing.T) {
	reached := ServerAnswer{Time: at(63), State: freshness.ServerReached, ResourceVersion: "200", SameConnection: true}
	elsewhere := ServerAnswer{Time: at(63), State: freshness.ServerReached, ResourceVersion: "200"}
	healed := []Cure{{Cure: freshness.Resume, At: at(63), Worked: true, Done: at(64)}}
	for _, tt := range []struct {
		name string
		in   Incident
		want Layer
		text string
	}{
		{
			"one stream among others",
			Incident{Verdict: freshness.Stalled, Ended: at(64), Evidence: Evidence{Watch: silent("HTTP/2.0"), Store: "100", Read: "200", Server: reached, SameConnection: Neighbours{3, 3}, Cures: healed, Informers: Share{1, 4}}},
			LayerStream,
			"The watch of configmaps/v1 in default over 10.0.0.1:40000 to 10.96.0.1:443 fell silent at 12:00:00Z while 3 of 3 other watches on its connection went on: this one stream was lost, by something on the way that forwards streams one by one (a proxy, a load balancer) or by the API server; resume healed it, 64s after its last sign of life.",
		},
		{
			"alone on a connection that answers",
			Incident{Verdict: freshness.Stalled, Evidence: Evidence{Watch: silent("HTTP/2.0"), Store: "100", Read: "200", Server: reached, Cures: []Cure{{Cure: freshness.Resume, At: at(63)}}}},
			LayerStream,
			"The watch of configmaps/v1 in default over 10.0.0.1:40000 to 10.96.0.1:443 fell silent at 12:00:00Z while the API server answered over that very connection: this one stream was lost, by something on the way that forwards streams one by one (a proxy, a load balancer) or by the API server; tried so far: resume.",
		},
		{
			"all watches of a connection whose requests are answered",
			Incident{Verdict: freshness.Stalled, Ended: at(64), Evidence: Evidence{Watch: silent("HTTP/2.0"), Server: reached, SameConnection: Neighbours{3, 0}, Cures: healed, Informers: Share{4, 4}}},
			LayerConnection,
			"The watch of configmaps/v1 in default over 10.0.0.1:40000 to 10.96.0.1:443 fell silent at 12:00:00Z with all 3 other watches on its connection, over which requests were answered: something on the way holds streams back (4 of 4 informers at once); resume healed it, 64s after its last sign of life.",
		},
		{
			"all watches of a connection, and the server answers over another",
			Incident{Verdict: freshness.Stalled, Evidence: Evidence{Watch: silent("HTTP/2.0"), Server: elsewhere, SameConnection: Neighbours{3, 0}, OtherConnections: Neighbours{2, 2}}},
			LayerConnection,
			"The watch of configmaps/v1 in default over 10.0.0.1:40000 to 10.96.0.1:443 fell silent at 12:00:00Z with all 3 other watches on its connection: it was dead, or what it leads to.",
		},
		{
			"HTTP/1.1",
			Incident{Verdict: freshness.Stalled, Ended: at(64), Evidence: Evidence{Watch: silent("HTTP/1.1"), Server: elsewhere, OtherConnections: Neighbours{3, 3}, Cures: healed}},
			LayerConnection,
			"The watch of configmaps/v1 in default over 10.0.0.1:40000 to 10.96.0.1:443 fell silent at 12:00:00Z, alone on its connection, as always with HTTP/1.1: a load balancer, a NAT or a proxy on the way dropped it; resume healed it, 64s after its last sign of life.",
		},
		{
			"only lists work",
			Incident{Verdict: freshness.Stalled, Ended: at(90), Evidence: Evidence{Watch: silent("HTTP/2.0"), Server: reached, SameConnection: Neighbours{3, 3}, Cures: []Cure{
				{Cure: freshness.Resume, At: at(63), Failed: true, Done: at(70)}, {Cure: freshness.Relist, At: at(70), Worked: true, Done: at(72)},
			}}},
			LayerPath,
			"The watch of configmaps/v1 in default over 10.0.0.1:40000 to 10.96.0.1:443 fell silent at 12:00:00Z, and so did those after it, while lists work: something on the way, such as a proxy that buffers, holds streams back; relist healed it, 72s after its last sign of life.",
		},
		{
			"without package transport",
			Incident{Verdict: freshness.Stalled, Evidence: Evidence{Watch: Watch{Since: at(-60)}, Server: elsewhere}},
			LayerStream,
			"The watch of configmaps/v1 in default fell silent at 11:59:00Z while the API server had more: its stream was lost on the way, or its connection.",
		},
		{
			"frozen datastore watch",
			Incident{Verdict: freshness.ControlPlaneStalled, Evidence: Evidence{Watch: silent("HTTP/2.0"), Store: "100", Read: "200", Server: ServerAnswer{State: freshness.ServerFrozen, ResourceVersion: "100"}, Informers: Share{2, 4}}},
			LayerServer,
			"The API server's own watch cache of configmaps/v1 in default stands still at 100 while its datastore is at 200: its datastore's watch is dead, every watch and every new process is as stale as this one, and a restart does not help (2 of 4 informers at once).",
		},
		{
			"lost events",
			Incident{Verdict: freshness.Diverged, Ended: at(5), Evidence: Evidence{Watch: silent("HTTP/2.0"), Objects: Share{2, 50}, Cures: []Cure{{Cure: freshness.Relist, At: at(1), Worked: true, Done: at(2)}}}},
			LayerContents,
			"The watch of configmaps/v1 in default moves on, but 2 of 50 objects differ from the API server's: events were lost on the way; relist healed it, 2s after it was found.",
		},
		{
			"dead token",
			Incident{Verdict: freshness.Unreachable, Evidence: Evidence{Cause: "unauthorized", Refused: 12, Informers: Share{4, 4}}},
			LayerCredential,
			"The API server does not accept this process's credential any more (12 answers of 401), so that configmaps/v1 in default cannot be watched (4 of 4 informers at once).",
		},
		{
			"refused connections",
			Incident{Verdict: freshness.Unreachable, Evidence: Evidence{Cause: "unreachable", Watch: silent("HTTP/2.0"), DialsFailed: 7}},
			LayerPath,
			"No connection to the API server at 10.96.0.1:443 can be opened (7 attempts): it is down, or the network does not let this process through; this says nothing about the cache of configmaps/v1 in default but that it gets no older than that.",
		},
		{
			"a proxy that answers PINGs",
			Incident{Verdict: freshness.Unreachable, Evidence: Evidence{Cause: "unreachable", Watch: silent("HTTP/2.0"), SameConnection: Neighbours{3, 0}}},
			LayerPath,
			"Nothing but answers to PINGs has come over the connection 10.0.0.1:40000 to 10.96.0.1:443 since 12:00:00Z: whatever answers them, a proxy or a load balancer, has lost its way to the API server, so that configmaps/v1 in default can be neither watched nor read.",
		},
		{
			"an API server that stands still",
			Incident{Verdict: freshness.Unreachable, Evidence: Evidence{Cause: "unreachable", Watch: silent("HTTP/2.0"), PingLost: true}},
			LayerPath,
			"The connection 10.0.0.1:40000 to 10.96.0.1:443 did not answer a PING, and nothing has answered for configmaps/v1 in default since 12:00:00Z: the API server stands still, or the network drops what is sent to it.",
		},
		{
			"an overloaded API server",
			Incident{Verdict: freshness.Unreachable, Evidence: Evidence{Cause: "busy", Reason: "the API server asks to come back later: 429", Watch: silent("HTTP/2.0")}},
			LayerServer,
			"The API server answers, but cannot serve configmaps/v1 in default: the API server asks to come back later: 429.",
		},
		{
			"a right that is missing",
			Incident{Verdict: freshness.Blind, Evidence: Evidence{Cause: "forbidden", Reason: "this program may not read this kind, grant it list and watch: no"}},
			LayerPermission,
			"configmaps/v1 in default cannot be watched: this program may not read this kind, grant it list and watch: no.",
		},
		{
			"a datastore without progress",
			Incident{Verdict: freshness.Blind, Evidence: Evidence{Reason: "the API server's watch cache does not follow its datastore"}},
			LayerUnknown,
			"Nobody can tell whether configmaps/v1 in default is fresh: the API server's watch cache does not follow its datastore.",
		},
		{
			"a restored backup",
			Incident{Verdict: freshness.Stalled, Ended: at(9), Evidence: Evidence{Watch: silent("HTTP/2.0"), Store: "500", Read: "120", SameConnection: Neighbours{3, 3}}},
			LayerServer,
			"resourceVersions went back, from 500 in the cache of configmaps/v1 in default to 120 at the API server: the datastore was restored from a backup, or replaced; it ended after 9s.",
		},
		{
			"a handler that blocks",
			Incident{Verdict: freshness.Fresh, Evidence: Evidence{Behind: freshness.LevelHandlers}},
			LayerProcess,
			"An event handler of configmaps/v1 in default does not return, though its cache is fresh: something in this process blocks it, and only a restart helps.",
		},
		{
			"a transform that blocks",
			Incident{Verdict: freshness.Stalled, Evidence: Evidence{Behind: freshness.LevelStore, Store: "100", Watch: silent("HTTP/2.0"), SameConnection: Neighbours{3, 3}}},
			LayerProcess,
			"Reads of configmaps/v1 in default stand at 100 though its watch has brought more: something in this process, such as a transform or an indexer, blocks its store, and only a restart helps.",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.Informer, tt.in.Began = configMaps, noon
			layer, text := diagnose(tt.in)
			if layer != tt.want {
				t.Errorf("layer %v, want %v", layer, tt.want)
			}
			if diff := cmp.Diff(tt.text, text); diff != "" {
				t.Errorf("sentence (-want +got):\n%s", diff)
			}
			if strings.Contains(text, "  ") || !strings.HasSuffix(text, ".") {
				t.Errorf("no good sentence: %q", text)
			}
		})
	}
}

func TestDiagnoseConnections(t *testing.T) {
	w := silent("HTTP/2.0")
	for _, tt := range []struct {
		name string
		in   Evidence
		want Layer
		text string
	}{
		{
			"PING lost", Evidence{Watch: w, PingLost: true, Carried: 2}, LayerConnection,
			"The connection 10.0.0.1:40000 to 10.96.0.1:443 brought nothing since 12:00:00Z and did not answer a PING: a load balancer, a NAT or a firewall dropped it without FIN or RST, or the far end stands still; it was given up, with 2 watches.",
		},
		{
			"deaf", Evidence{Watch: w, Deaf: true, Carried: 1}, LayerPath,
			"The connection 10.0.0.1:40000 to 10.96.0.1:443 answered PINGs and nothing else since 12:00:00Z: whatever answers them, a proxy or a load balancer, has lost its way to the API server; it was given up, with 1 watch.",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			layer, text := diagnose(Incident{Began: noon, Ended: at(15), Evidence: tt.in})
			if layer != tt.want || text != tt.text {
				t.Errorf("got %v, %s\nwant %v, %s", layer, text, tt.want, tt.text)
			}
		})
	}
}
