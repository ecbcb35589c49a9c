// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/freshwatch/freshwatch/freshness"
)

// This file says what an incident was. Everything else in the package gathers the
// evidence.

// diagnose returns where the fault of an incident lies, and what it is, in one sentence.
func diagnose(i Incident) (Layer, string) {
	layer, what := fault(i)
	if s := i.Evidence.Informers; i.of() && s.Some > 1 {
		what += fmt.Sprintf(" (%d of %d informers at once)", s.Some, s.Of)
	}
	return layer, what + outcome(i) + "."
}

// fault goes from what is certain to what is likely: what this process knows of itself,
// what the API server says of itself, what has become of the connection, and what other
// watches saw.
func fault(i Incident) (Layer, string) {
	ev, who := i.Evidence, i.Informer.String()
	switch {
	case !i.of():
		return faultOfConnection(ev)
	case ev.Behind == freshness.LevelHandlers:
		return LayerProcess, fmt.Sprintf("An event handler of %s does not return, though its cache is fresh: something in this process blocks it, and only a restart helps", who)
	case ev.Behind == freshness.LevelStore:
		return LayerProcess, fmt.Sprintf("Reads of %s stand at %s though its watch has brought more: something in this process, such as a transform or an indexer, blocks its store, and only a restart helps", who, ev.Store)
	case i.Verdict == freshness.ControlPlaneStalled:
		return LayerServer, fmt.Sprintf("The API server's own watch cache of %s stands still%s%s: its datastore's watch is dead, every watch and every new process is as stale as this one, and a restart does not help",
			who, standing(ev.Server.ResourceVersion), behind(ev.Read))
	case i.Verdict == freshness.Diverged:
		return LayerContents, fmt.Sprintf("The watch of %s moves on, but %s differ from the API server's: events were lost on the way", who, objects(ev.Objects))
	case i.Verdict == freshness.Unreachable && (ev.Cause == "unauthorized" || ev.Cause == "" && ev.Refused > 0):
		return LayerCredential, fmt.Sprintf("The API server does not accept this process's credential any more (%s of 401), so that %s cannot be watched", count(ev.Refused, "answer"), who)
	case i.Verdict == freshness.Unreachable:
		return faultOfPath(ev, who)
	case i.Verdict == freshness.Blind:
		return faultOfAnswer(ev, who)
	case wentBack(ev):
		return LayerServer, fmt.Sprintf("resourceVersions went back, from %s in the cache of %s to %s at the API server: the datastore was restored from a backup, or replaced", ev.Store, who, ev.Read)
	}
	return faultOfStream(ev, who)
}

func faultOfConnection(ev Evidence) (Layer, string) {
	w := ev.Watch
	if ev.Deaf {
		return LayerPath, fmt.Sprintf("The connection %s answered PINGs and nothing else%s: whatever answers them, a proxy or a load balancer, has lost its way to the API server; it was given up, with %s",
			ends(w.Local, w.Remote), since(w.LastByte), count(ev.Carried, "watch"))
	}
	return LayerConnection, fmt.Sprintf("The connection %s brought nothing%s and did not answer a PING: a load balancer, a NAT or a firewall dropped it without FIN or RST, or the far end stands still; it was given up, with %s",
		ends(w.Local, w.Remote), since(w.LastByte), count(ev.Carried, "watch"))
}

// faultOfPath is for reads that fail.
func faultOfPath(ev Evidence, who string) (Layer, string) {
	w := ev.Watch
	switch {
	case ev.Cause == "busy" || ev.Cause == "late" || ev.Cause == "broken":
		return LayerServer, fmt.Sprintf("The API server answers, but cannot serve %s: %s", who, ev.Reason)
	case ev.DialsFailed > 0:
		return LayerPath, fmt.Sprintf("No connection to the API server%s can be opened (%s): it is down, or the network does not let this process through; this says nothing about the cache of %s but that it gets no older than that", to(w.Remote), count(ev.DialsFailed, "attempt"), who)
	case ev.PingLost:
		return LayerPath, fmt.Sprintf("The connection %s did not answer a PING, and nothing has answered for %s since%s: the API server stands still, or the network drops what is sent to it", ends(w.Local, w.Remote), who, when(w.silentSince()))
	case ev.Deaf, w.Open && w.Protocol == "HTTP/2.0" && ev.SameConnection.Alive == 0:
		return LayerPath, fmt.Sprintf("Nothing but answers to PINGs has come over the connection %s since%s: whatever answers them, a proxy or a load balancer, has lost its way to the API server, so that %s can be neither watched nor read", ends(w.Local, w.Remote), when(w.silentSince()), who)
	}
	return LayerPath, fmt.Sprintf("The API server cannot be read for %s: %s", who, ev.Reason)
}

// faultOfAnswer is for answers that no repetition will change.
func faultOfAnswer(ev Evidence, who string) (Layer, string) {
	switch ev.Cause {
	case "forbidden", "not-served", "conversion", "undecodable":
		return LayerPermission, fmt.Sprintf("%s cannot be watched: %s", who, ev.Reason)
	}
	return LayerUnknown, fmt.Sprintf("Nobody can tell whether %s is fresh: %s", who, ev.Reason)
}

// faultOfStream is for a watch that owed what the API server had.
func faultOfStream(ev Evidence, who string) (Layer, string) {
	w, same := ev.Watch, ev.SameConnection
	silent := fmt.Sprintf("The watch of %s%s fell silent%s", who, over(w), moment(w.silentSince()))
	switch {
	case ev.PingLost:
		return LayerConnection, silent + ", on a connection that did not answer a PING: it was dropped on the way without FIN or RST"
	case ev.Deaf:
		return LayerPath, silent + ", on a connection that answered PINGs and nothing else: a proxy or a load balancer on the way has lost the API server"
	case onlyListsWork(ev):
		return LayerPath, silent + ", and so did those after it, while lists work: something on the way, such as a proxy that buffers, holds streams back"
	case same.Alive > 0:
		return LayerStream, fmt.Sprintf("%s while %d of %d other watches on its connection went on: this one stream was lost, by something on the way that forwards streams one by one (a proxy, a load balancer) or by the API server", silent, same.Alive, same.Watches)
	case same.Watches > 0 && ev.Server.SameConnection:
		return LayerConnection, fmt.Sprintf("%s with all %d other watches on its connection, over which requests were answered: something on the way holds streams back", silent, same.Watches)
	case same.Watches > 0:
		return LayerConnection, fmt.Sprintf("%s with all %d other watches on its connection: it was dead, or what it leads to", silent, same.Watches)
	case ev.Server.SameConnection:
		return LayerStream, silent + " while the API server answered over that very connection: this one stream was lost, by something on the way that forwards streams one by one (a proxy, a load balancer) or by the API server"
	case w.Protocol == "HTTP/1.1":
		return LayerConnection, silent + ", alone on its connection, as always with HTTP/1.1: a load balancer, a NAT or a proxy on the way dropped it"
	}
	return LayerStream, silent + " while the API server had more: its stream was lost on the way, or its connection"
}

// onlyListsWork tells whether watching anew did not help, and listing did.
func onlyListsWork(ev Evidence) bool {
	failed, listed := false, false
	for _, c := range ev.Cures {
		resumes := c.Cure == freshness.Resume || c.Cure == freshness.Reconnect
		failed = failed || resumes && c.Failed
		listed = listed || !resumes && c.Worked
	}
	return failed && listed
}

// wentBack tells whether the API server is before what the cache has seen.
func wentBack(ev Evidence) bool {
	c, err := resourceversion.CompareResourceVersion(ev.Read, ev.Store)
	return err == nil && c < 0
}

// outcome says what helped, or that nothing has.
func outcome(i Incident) string {
	tried := map[freshness.Rung]bool{}
	var names []string
	for _, c := range slices.Backward(i.Evidence.Cures) { // what worked before has not lasted
		if c.Worked && !i.Open() {
			from := i.Began
			if i.Verdict == freshness.Diverged { // its watch is alive
				return fmt.Sprintf("; %v healed it, %s after it was found", c.Cure, took(c.Done.Sub(from)))
			}
			if s := i.Evidence.Watch.silentSince(); !s.IsZero() && s.Before(from) {
				from = s
			}
			return fmt.Sprintf("; %v healed it, %s after its last sign of life", c.Cure, took(c.Done.Sub(from)))
		}
	}
	for _, c := range i.Evidence.Cures {
		if !tried[c.Cure] {
			tried[c.Cure] = true
			names = append(names, c.Cure.String())
		}
	}
	switch {
	case !i.of():
		return ""
	case !i.Open():
		return "; it ended after " + took(i.Ended.Sub(i.Began))
	case len(names) > 0:
		return "; tried so far: " + strings.Join(names, ", ")
	}
	return ""
}

func took(d time.Duration) string {
	d = max(d, 0) // a clock may be set back
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return duration.HumanDuration(d)
}

func clockTime(t time.Time) string { return t.UTC().Format("15:04:05Z") }

func when(t time.Time) string {
	if t.IsZero() {
		return " the start"
	}
	return " " + clockTime(t)
}

func since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " since " + clockTime(t)
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " at " + clockTime(t)
}

func standing(rv string) string {
	if rv == "" {
		return ""
	}
	return " at " + rv
}

func behind(rv string) string {
	if rv == "" {
		return ""
	}
	return " while its datastore is at " + rv
}

func to(remote string) string {
	if remote == "" {
		return ""
	}
	return " at " + remote
}

func objects(s Share) string {
	if s.Some == 0 {
		return "objects"
	}
	return fmt.Sprintf("%d of %d objects", s.Some, s.Of)
}

// count returns a number with what it counts.
func count(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "ch"):
		return fmt.Sprintf("%d %ses", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
