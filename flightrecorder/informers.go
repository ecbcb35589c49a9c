// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"fmt"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// record is what is kept of one informer. Several informers of the same name, such as a
// typed and a metadata-only one, share it.
type record struct {
	name  freshness.Informer
	heard time.Time
	log   ring

	verdict freshness.Verdict
	behind  freshness.Level
	read    string // the newest that the API server has told
	readAt  time.Time
	failed  int   // reads since
	objects Share // that the last audit which found any found to differ
	dials   int   // that had failed at that time
	calls   int   // that had been answered with 401
	server  ServerAnswer
	ended   Watch // the last watch that was answered and has ended, by package transport
	watch   Watch // the newest, by package freshness

	incident *Incident
	ailing   time.Time // when its last one began
}

// ObserveInformers is a freshness.Options.Observer. A proof costs it a lock and a look-up.
func (r *Recorder) ObserveInformers(e freshness.Event) {
	// What other watches are doing has to be seen now, and without this lock.
	var seen *surroundings
	if e.Type == freshness.VerdictChanged || e.Type == freshness.CureStarted {
		seen = r.look(e.Time)
	}
	r.mu.Lock()
	defer r.unlock()
	rec := r.of(e.Informer, e.Time)
	switch e.Type {
	case freshness.Read:
		rec.read, rec.readAt, rec.failed = e.ResourceVersion, e.Time, 0
		rec.dials, rec.calls = r.dials, r.refused
	case freshness.Proven:
		// What is in the snapshot anyway.
	case freshness.ReadFailed:
		rec.failed++
		rec.log.add(e.Time, "the API server cannot be read: "+e.Reason)
		r.fails(rec, e)
	case freshness.ServerAsked:
		rec.server = ServerAnswer{Time: e.Time, State: e.Server, ResourceVersion: e.ResourceVersion, SameConnection: e.SameConnection}
		rec.log.add(e.Time, serverText(e))
		rec.blame(func(ev *Evidence) { ev.Server = rec.server })
	case freshness.WatchBegan:
		rec.watch = watchOf(e.Watch)
		if !r.transport { // or it tells more, at the end
			rec.log.add(e.Time, "watching"+over(rec.watch))
		}
	case freshness.VerdictChanged:
		rec.log.add(e.Time, fmt.Sprintf("%v, was %v: %s", e.Verdict, e.Previous, e.Reason))
		r.judged(rec, e, seen)
	case freshness.LevelChanged:
		rec.log.add(e.Time, fmt.Sprintf("behind: %v", e.Behind))
		r.lags(rec, e)
	case freshness.CureStarted:
		rec.log.add(e.Time, fmt.Sprintf("curing by %v", e.Cure))
		r.begin(rec, e, seen)
		rec.incident.worth = true
		rec.blame(func(ev *Evidence) { ev.try(Cure{Cure: e.Cure, At: e.Time}) })
	case freshness.CureProven, freshness.CureFailed:
		r.cured(rec, e)
	case freshness.Audited, freshness.AuditFailed:
		r.audited(rec, e)
	}
}

// fails takes a read that has failed. Why the API server cannot be read may change.
func (r *Recorder) fails(rec *record, e freshness.Event) {
	i := rec.incident
	if i == nil {
		return
	}
	other := e.Cause != i.Evidence.Cause
	i.Evidence.ReadsFailed, i.Evidence.Cause = max(i.Evidence.ReadsFailed, rec.failed), e.Cause
	if other && i.worth && i.Verdict == freshness.Unreachable {
		r.connect(rec)
		i.Evidence.Reason = cut(e.Reason)
		i.Layer, i.Diagnosis = diagnose(*i)
	}
}

func serverText(e freshness.Event) string {
	if e.Reason != "" {
		return "where its watch cache stands the API server does not say: " + e.Reason
	}
	on := ""
	if e.SameConnection {
		on = ", over the connection of the watch"
	}
	switch e.Server {
	case freshness.ServerReached:
		return fmt.Sprintf("the API server's watch cache is at %s and has what is missing here%s", e.ResourceVersion, on)
	case freshness.ServerFrozen:
		return fmt.Sprintf("the API server's watch cache stands still at %s%s", e.ResourceVersion, on)
	default:
		return fmt.Sprintf("the API server's watch cache is at %s and has not got what is missing here%s", e.ResourceVersion, on)
	}
}

// blame adds to the evidence of the incident that goes on, if one does.
func (rec *record) blame(f func(*Evidence)) {
	if rec.incident != nil {
		f(&rec.incident.Evidence)
	}
}

// judged takes a change of verdict.
func (r *Recorder) judged(rec *record, e freshness.Event, seen *surroundings) {
	r.failing.Some += bad(e.Verdict) - bad(rec.verdict)
	rec.verdict = e.Verdict
	switch {
	case severity(e.Verdict) > 0:
		r.begin(rec, e, seen)
		r.concerns(rec, e)
	case rec.incident != nil && e.Verdict == freshness.Fresh:
		r.end(rec, e.Time)
	}
}

// begin opens an incident where none goes on, and adds how things stand where they stand
// worse than before.
func (r *Recorder) begin(rec *record, e freshness.Event, seen *surroundings) {
	if rec.incident == nil {
		r.ids++
		rec.incident = &Incident{ID: r.ids, Informer: rec.name, Began: e.Time, Verdict: freshness.Suspect}
		ev := &rec.incident.Evidence
		if e.Time.Sub(rec.server.Time) < justBegun {
			ev.Server = rec.server // it is asked before anything is done
		}
		ev.Watch = rec.suspect(watchOf(e.Watch), e.Time)
		ev.Store, ev.Moved = e.ResourceVersion, e.Moved
		switch {
		case e.Moved.IsZero():
		case e.ByEvent:
			ev.By = "event"
		default:
			ev.By = "bookmark or list"
		}
		seen.beside(rec.incident, rec.name)
	}
	ev := &rec.incident.Evidence
	ev.Read, ev.ReadAt, ev.ReadsFailed = rec.read, rec.readAt, max(ev.ReadsFailed, rec.failed)
	if e.Type == freshness.VerdictChanged && e.Cause != "" {
		ev.Cause = e.Cause
	}
	r.connect(rec)
	if r.failing.Some > ev.Informers.Some {
		ev.Informers = r.failing
	}
	ev.Informers.Some, ev.Informers.Of = max(1, ev.Informers.Some), len(r.informers)
	if e.Verdict == freshness.Diverged {
		ev.Objects = rec.objects
	}
}

// says tells whether a verdict says more, or something newer, of an informer than the one
// before it. A suspicion does not, nor that the API server cannot be reached where it was
// known before that the cache is not what it should be.
func says(now, before freshness.Verdict) bool {
	switch now {
	case freshness.Suspect:
		return before == freshness.Suspect
	case freshness.Unreachable:
		return severity(before) <= severity(freshness.Unreachable)
	default:
		return true
	}
}

// concerns takes a verdict into an incident, and tells of one that is news.
func (r *Recorder) concerns(rec *record, e freshness.Event) {
	i := rec.incident
	if !says(e.Verdict, i.Verdict) {
		return
	}
	news := !i.worth || e.Verdict != i.Verdict
	i.Verdict, i.Evidence.Reason = e.Verdict, cut(e.Reason)
	if e.Verdict == freshness.Suspect {
		return
	}
	i.worth = true
	if news {
		i.Layer, i.Diagnosis = diagnose(*i)
		r.news = append(r.news, i.copied())
	}
}

// cured takes what a cure has shown. A renewed watch may bring what the one before it
// owed, and then nobody had been suspected yet.
func (r *Recorder) cured(rec *record, e freshness.Event) {
	worked := e.Type == freshness.CureProven
	rec.log.add(e.Time, fmt.Sprintf("%v %s", e.Cure, map[bool]string{true: "has worked", false: "did not help"}[worked]))
	alone := rec.incident == nil
	if alone {
		if !worked {
			return
		}
		watch := rec.suspect(rec.watch, e.Time)
		r.ids++
		rec.incident = &Incident{ID: r.ids, Informer: rec.name, Began: e.Time, Verdict: freshness.Suspect, worth: true}
		rec.incident.Evidence = Evidence{Watch: watch, Read: rec.read, ReadAt: rec.readAt, Informers: r.failing, Cures: []Cure{{Cure: e.Cure, At: e.Time}}}
		r.connect(rec)
	}
	rec.blame(func(ev *Evidence) {
		for i := len(ev.Cures) - 1; i >= 0; i-- {
			if c := &ev.Cures[i]; c.Cure == e.Cure && c.Done.IsZero() {
				c.Worked, c.Failed, c.Done = worked, !worked, e.Time
				return
			}
		}
	})
	if worked && severity(rec.verdict) == 0 {
		r.end(rec, e.Time) // it was healed before a verdict was reached
	}
}

func (r *Recorder) audited(rec *record, e freshness.Event) {
	if e.Type == freshness.AuditFailed {
		rec.log.add(e.Time, "the audit failed: "+e.Reason)
		return
	}
	if len(e.Diverged) == 0 {
		return
	}
	rec.log.add(e.Time, fmt.Sprintf("the audit found %d of %d objects to differ", len(e.Diverged), e.Objects))
	rec.objects = Share{len(e.Diverged), e.Objects}
}

// lags takes a change of what is behind. A handler that blocks is an incident, though the
// cache is fresh.
func (r *Recorder) lags(rec *record, e freshness.Event) {
	was := rec.behind
	rec.behind = e.Behind
	switch {
	case e.Behind == freshness.LevelHandlers && rec.incident == nil:
		r.ids++
		rec.incident = &Incident{ID: r.ids, Informer: rec.name, Began: e.Time, Verdict: rec.verdict, worth: true}
		rec.incident.Evidence = Evidence{Behind: e.Behind, Reason: cut(e.Reason), Informers: r.failing}
		rec.incident.Layer, rec.incident.Diagnosis = diagnose(*rec.incident)
		r.news = append(r.news, rec.incident.copied())
	case was == freshness.LevelHandlers && rec.incident != nil && severity(rec.verdict) == 0:
		r.end(rec, e.Time)
	case e.Behind != freshness.LevelNone:
		rec.blame(func(ev *Evidence) { ev.Behind = e.Behind })
	}
}

// bad counts an informer that is not fresh.
func bad(v freshness.Verdict) int { return min(severity(v), 1) }
