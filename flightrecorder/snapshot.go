// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"cmp"
	"slices"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/transport"
)

// Snapshot is all that is known at one moment. It can be marshalled to JSON, and holds no
// contents of objects, no credentials and no queries.
type Snapshot struct {
	Time time.Time `json:"time"`
	// Began is when the recorder was made.
	Began time.Time `json:"began"`
	// Diagnosis is what is wrong, in one sentence, or that nothing is. Healthy tells which
	// of the two.
	Diagnosis string `json:"diagnosis"`
	Healthy   bool   `json:"healthy"`
	// Headline is the diagnosis without ages and without what was last: it changes only
	// when something has, so that it tells whether there is news.
	Headline string `json:"headline"`
	// Informers are sorted by name, Connections by age, Reconciles by age.
	Informers   []Informer   `json:"informers"`
	Connections []Connection `json:"connections"`
	Canary      *Canary      `json:"canary,omitempty"`
	Reconciles  []Reconcile  `json:"reconciles"`
	// Incidents are those that go on, and then those that are over, each with the newest
	// first.
	Incidents []Incident `json:"incidents"`
	// Log is what happened to connections, the oldest first.
	Log []Entry `json:"log"`
}

// Informer is one informer in a Snapshot.
type Informer struct {
	Name      string             `json:"name"`
	Group     string             `json:"group"`
	Version   string             `json:"version"`
	Resource  string             `json:"resource"`
	Namespace string             `json:"namespace,omitempty"`
	Verdict   freshness.Verdict  `json:"verdict"`
	Reason    string             `json:"reason"`
	Since     time.Time          `json:"since"`
	FreshAsOf time.Time          `json:"freshAsOf,omitzero"`
	Bound     float64            `json:"stalenessBoundSeconds"`
	Limit     float64            `json:"limitSeconds"`
	RV        string             `json:"resourceVersion"`
	Moved     time.Time          `json:"moved,omitzero"`
	Bookmark  time.Time          `json:"bookmark,omitzero"`
	LastRead  time.Time          `json:"lastRead,omitzero"`
	Watch     Watch              `json:"watch"`
	Behind    freshness.Level    `json:"behind"`
	Pending   uint64             `json:"pendingNotifications"`
	Blocked   float64            `json:"handlerBlockedSeconds"`
	Reads     uint64             `json:"reads"`
	Proofs    uint64             `json:"proofs"`
	Doubts    uint64             `json:"overdueProofs"`
	Cures     map[string]CureSum `json:"cures"`
	Diverged  int                `json:"divergedObjects"`
	Log       []Entry            `json:"log"`
}

// CureSum is how often a cure was tried, and how often it helped.
type CureSum struct {
	Tried  uint64 `json:"tried"`
	Helped uint64 `json:"helped"`
}

// Connection is one connection in a Snapshot.
type Connection struct {
	Local    string    `json:"local"`
	Remote   string    `json:"remote"`
	Opened   time.Time `json:"opened"`
	Protocol string    `json:"protocol,omitempty"`
	LastByte time.Time `json:"lastByte,omitzero"`
	Watches  int       `json:"watches"`
	Requests uint64    `json:"requests"`
}

// Canary is what package watchcanary's knows.
type Canary struct {
	State     string      `json:"state"`
	Reason    string      `json:"reason"`
	Since     time.Time   `json:"since"`
	Unseen    float64     `json:"unseenSeconds"`
	Restarts  int         `json:"restarts"`
	Exhausted bool        `json:"restartsExhausted"`
	Missing   []string    `json:"missingRights,omitempty"`
	Trips     []RoundTrip `json:"roundTrips"`
}

// RoundTrip is one of the canary's, the oldest first.
type RoundTrip struct {
	At      time.Time `json:"at"`
	Seconds float64   `json:"seconds"`
}

// Reconcile is one that runs.
type Reconcile struct {
	Controller string  `json:"controller"`
	Request    string  `json:"request"`
	Age        float64 `json:"ageSeconds"`
	// Stage is Running, Overrun, Wedged or Failing.
	Stage string `json:"stage"`
}

// Wedged tells whether it does not return though its context has ended.
func (r Reconcile) Wedged() bool { return r.Stage == "Wedged" || r.Stage == "Failing" }

// Snapshot returns what is known now. It does no I/O.
func (r *Recorder) Snapshot() Snapshot {
	src := r.attached()
	s := Snapshot{
		Time: r.opts.Clock.Now(), Began: r.began, Incidents: r.Incidents(),
		Informers: []Informer{}, Connections: []Connection{}, Reconciles: []Reconcile{},
	}
	if src.Reconciles != nil {
		s.Reconciles = append(s.Reconciles, src.Reconciles()...)
	}
	var streams []transport.Stream
	if src.Transport != nil {
		streams = src.Transport.Streams()
		for _, c := range src.Transport.Connections() {
			s.Connections = append(s.Connections, Connection(c))
		}
	}
	if src.Canary != nil {
		s.Canary = canaryOf(src.Canary.Status())
	}
	if src.Monitor != nil {
		for _, st := range src.Monitor.Status() {
			s.Informers = append(s.Informers, r.informer(st, streams))
		}
	} else {
		s.Informers = r.recorded()
	}
	r.mu.Lock()
	s.Log = r.connections.all()
	r.mu.Unlock()
	s.Headline, s.Diagnosis, s.Healthy = overall(s)
	return s
}

// informer completes a status with what was recorded, and with the stream below.
func (r *Recorder) informer(st freshness.Status, streams []transport.Stream) Informer {
	i := Informer{
		Name: st.Informer.String(), Group: st.Informer.Group, Version: st.Informer.Version, Resource: st.Informer.Resource, Namespace: st.Informer.Namespace,
		Verdict: st.Verdict, Reason: st.Reason, Since: st.Since, FreshAsOf: st.FreshAsOf, Bound: st.Staleness.Seconds(), Limit: st.Limit.Seconds(),
		RV: st.ResourceVersion, Moved: st.Moved, Bookmark: st.Bookmarked, LastRead: st.LastRead, Watch: watchOf(st.Watch),
		Behind: st.Behind, Pending: st.Pending, Blocked: st.Blocked.Seconds(), Reads: st.Reads, Proofs: st.Proofs, Doubts: st.Doubts,
		Cures: map[string]CureSum{}, Diverged: len(st.Diverged), Log: []Entry{},
	}
	for rung, n := range st.Cures {
		i.Cures[rung.String()] = CureSum{Tried: n, Helped: st.ProvenCures[rung]}
	}
	for _, on := range streams {
		if on.GVR.Group == i.Group && on.GVR.Resource == i.Resource && on.Namespace == i.Namespace && about(on.Since, i.Watch.Since) {
			i.Watch = watchOn(on)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec := r.informers[st.Informer]; rec != nil {
		i.Log = rec.log.all()
	}
	return i
}

// recorded are the informers that events were about, where there is no monitor to ask.
func (r *Recorder) recorded() []Informer {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []Informer{}
	for _, rec := range r.informers {
		n := rec.name
		out = append(out, Informer{
			Name: n.String(), Group: n.Group, Version: n.Version, Resource: n.Resource, Namespace: n.Namespace,
			Verdict: rec.verdict, Behind: rec.behind, Watch: rec.watch, LastRead: rec.readAt, Cures: map[string]CureSum{}, Log: rec.log.all(),
		})
	}
	slices.SortFunc(out, func(a, b Informer) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
