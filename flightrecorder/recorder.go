// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/transport"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// Recorder remembers what has happened to informers and connections, and says what it
// was. Make one with New, give its observers to packages transport and freshness, and
// what they made to Attach. All methods are safe for concurrent use.
type Recorder struct {
	opts    Options
	sources atomic.Pointer[Sources]
	seen    atomic.Pointer[surroundings] // lately
	dumped  atomic.Int64                 // when that was last done, wall clock, in ns; 0: never

	mu          sync.Mutex
	began       time.Time
	informers   map[freshness.Informer]*record
	failing     Share // of these
	connections ring
	lost        []lostConnection // lately
	transport   bool             // that package tells
	dials       int              // that failed
	refused     int              // 401s
	over        []Incident       // that are, the oldest first
	ids         int
	news        []Incident // to be told once the lock is free
}

// Sources are what a recorder looks at when it is asked. Each may be nil.
type Sources struct {
	Monitor   *freshness.Monitor
	Transport *transport.Transport
	Canary    *watchcanary.Canary
	// Reconciles returns those that run, as package reconcile's Deadlines.InFlight does.
	Reconciles func() []Reconcile
}

// New returns a Recorder. It fails if an option is out of range, naming the option, its
// value and the rule.
func New(opts Options) (*Recorder, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Recorder{
		opts: opts, began: opts.Clock.Now(),
		informers:   map[freshness.Informer]*record{},
		connections: ring{limit: connectionEntries},
	}, nil
}

// Attach gives the recorder what it looks at when it is asked, or when something goes
// wrong: the other watches at that moment above all. It fails if that was done before.
func (r *Recorder) Attach(s Sources) error {
	if !r.sources.CompareAndSwap(nil, &s) {
		return errors.New("flightrecorder: Attach was called before: a recorder has one set of sources")
	}
	return nil
}

// attached never returns nil.
func (r *Recorder) attached() *Sources {
	if s := r.sources.Load(); s != nil {
		return s
	}
	return &Sources{}
}

// unlock frees the lock, and tells of incidents what was noted under it.
func (r *Recorder) unlock() {
	news := r.news
	r.news = nil
	r.mu.Unlock()
	if r.opts.OnIncident == nil {
		return
	}
	for _, i := range news {
		r.opts.OnIncident(i)
	}
}

// of returns the record of an informer, and makes one where there is none. The caller
// holds the lock.
func (r *Recorder) of(name freshness.Informer, now time.Time) *record {
	rec := r.informers[name]
	if rec == nil {
		r.forget()
		rec = &record{name: name, log: ring{limit: r.opts.Entries}}
		r.informers[name] = rec
		r.failing.Of = len(r.informers)
	}
	rec.heard = now
	return rec
}

// forget makes room for one more informer: the one of which nothing was heard for the
// longest time goes, and one that something is wrong with only where that is so of all.
func (r *Recorder) forget() {
	if len(r.informers) < r.opts.Informers {
		return
	}
	var oldest *record
	for _, rec := range r.informers {
		if oldest == nil || rec.forgotten(oldest) {
			oldest = rec
		}
	}
	r.failing.Some -= bad(oldest.verdict)
	delete(r.informers, oldest.name)
}

// forgotten tells whether a record is forgotten before another one.
func (rec *record) forgotten(other *record) bool {
	if open := rec.incident != nil; open != (other.incident != nil) {
		return !open
	}
	return rec.heard.Before(other.heard)
}

// end closes an informer's incident. Watches that were taken for alive, and turned out to
// have fallen silent as well, were not. The caller holds the lock.
func (r *Recorder) end(rec *record, now time.Time) {
	i := rec.incident
	rec.incident, rec.ailing = nil, i.Began
	for _, name := range i.alive {
		if n := r.informers[name]; n != nil && (n.incident != nil || n.ailing.After(i.Began.Add(-ailingTogether))) {
			i.Evidence.SameConnection.Alive--
		}
	}
	r.close(i, now)
}

// close files an incident that is over. The caller holds the lock.
func (r *Recorder) close(i *Incident, now time.Time) {
	i.Ended, i.alive = now, nil
	if !i.worth {
		return
	}
	i.Layer, i.Diagnosis = diagnose(*i)
	r.over = append(r.over, *i)
	if n := len(r.over) - r.opts.Incidents; n > 0 {
		r.over = slices.Delete(r.over, 0, n)
	}
	r.news = append(r.news, i.copied())
}

// Incidents returns those that go on, and then those that are over, each with the newest
// first.
func (r *Recorder) Incidents() []Incident {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []Incident{} // not null as JSON
	for _, rec := range r.informers {
		if i := rec.incident; i != nil && i.worth {
			out = append(out, i.copied())
		}
	}
	slices.SortFunc(out, func(a, b Incident) int { return b.ID - a.ID })
	for _, i := range slices.Backward(r.over) {
		out = append(out, i.copied())
	}
	return out
}
