// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// faultKind is how an informer goes stale.
type faultKind int

const (
	silence   faultKind = iota // its stream brings nothing any more
	deadPath                   // nor does any other, for a while
	stuck                      // nor does any that resumes, until there was a relist
	frozenAll                  // every API server's watch cache stands still
	frozenOne                  // the one that it is connected to
)

const nFaultKinds = int(frozenOne) + 1

var faultNames = [nFaultKinds]string{"silence", "dead path", "stuck until a relist", "frozen datastore watch", "one API server frozen"}

// frozen tells whether the control plane is to blame.
func (k faultKind) frozen() bool { return k >= frozenAll }

// faults is the fault that is there, or was.
type faults struct {
	kind      faultKind
	active    bool
	from, to  time.Duration
	lack      time.Duration // when something was written that the informer cannot get
	server    int           // that is frozen, if one is
	flowBound bool          // a new connection cures the path
	crowd     bool          // other informers have it, too
}

// faultGap is how long there is none, on average.
func (l *life) faultGap() time.Duration {
	return time.Duration(float64(40*time.Hour) / l.weather.harshness)
}

// lacks notes a write.
func (f *faults) lacks(t time.Duration) {
	if f.active {
		f.lack = min(f.lack, t)
	}
}

// lull notes that nobody writes any more from t on.
func (f *faults) lull(t time.Duration) {
	if f.active && f.lack > t {
		f.lack = never
	}
}

// refilled notes that a server whose watch cache is frozen has begun anew, and lacks
// nothing until the next write.
func (f *faults) refilled(server int, next time.Duration) {
	if f.active && f.kind.frozen() && (f.kind == frozenAll || f.server == server) {
		f.lack = next
	}
}

// onFault begins a fault, or ends the one whose time is over.
func (l *life) onFault(t time.Duration) {
	f := &l.faults
	w := l.stream
	switch {
	case f.active:
		if f.kind.frozen() {
			l.faultOver(t)
			return
		}
		l.timers[tFault] = never // the next stream is well
		return
	case l.judge.aftermath || l.judge.deaf || w == nil || !w.live || w.over || w.silent < never || l.fresh().IsZero():
		l.timers[tFault] = t + l.between(time.Second, time.Minute)
		return
	}
	*f = faults{
		kind: faultKind(l.IntN(nFaultKinds)), active: true, from: t, to: never,
		lack: l.cluster.writtenAfter(t), flowBound: l.chance(0.5), crowd: l.chance(0.3),
	}
	if f.kind == stuck && l.resumeOnly {
		f.kind = deadPath
	}
	l.timers[tFault] = never
	switch f.kind {
	case silence:
		w.farewell = l.chance(0.3)
	case deadPath:
		f.to = t + l.span(time.Minute, 40*time.Minute)
	case frozenAll, frozenOne:
		f.to = t + l.span(time.Minute, 40*time.Minute)
		l.freeze(t)
	case stuck:
	}
	if !f.kind.frozen() {
		w.silent = t
	}
	if f.to < never {
		l.timers[tFault] = f.to
	}
	l.note(t, "fault: "+faultNames[f.kind], int64(f.to-t))
	l.judge.faultBegins(t, l)
}

// freeze keeps the watch caches from getting anything.
func (l *life) freeze(t time.Duration) {
	f := &l.faults
	f.server = l.stream.conn.server
	for j, s := range l.cluster.servers {
		if f.kind == frozenOne && j != f.server {
			continue
		}
		s.frozenUntil = f.to
		s.at(t)
		for i := range s.queue {
			s.queue[i].at = max(s.queue[i].at, f.to)
			s.last = max(s.last, f.to)
		}
		for i := range l.cluster.commits {
			if c := &l.cluster.commits[i]; c.on[j] > t {
				c.on[j] = max(c.on[j], f.to)
			}
		}
	}
	if w := l.stream; w != nil && w.live {
		l.catchUp(t)
	}
}

// deafen has a fault act on a stream that the server takes up, or ends the fault.
func (l *life) deafen(t time.Duration) {
	f, w := &l.faults, l.stream
	switch {
	case f.active && f.kind == frozenOne && w.conn.server != f.server:
		l.cluster.thaw(f.server, t)
		l.faultOver(t)
	case !f.active || f.kind.frozen():
	case f.kind == stuck:
		if !w.initial {
			w.silent = t
		}
	case f.kind == deadPath && t < f.to:
		w.silent = t
	default:
		l.faultOver(t)
	}
}

// listedAnew ends what a relist cures.
func (l *life) listedAnew(t time.Duration) {
	if l.faults.active && l.faults.kind == stuck {
		l.faultOver(t)
	}
}

// onNewConnection ends what a new connection cures.
func (l *life) onNewConnection(t time.Duration) {
	if f := &l.faults; f.active && f.kind == deadPath && f.flowBound {
		f.to = t
	}
}

// faultOver notes that nothing is wrong any more.
func (l *life) faultOver(t time.Duration) {
	l.note(t, "fault is over", 0)
	l.faults.active = false
	l.judge.faultEnds(t, l)
	l.timers[tFault] = t + l.about(l.faultGap())
	if l.chance(0.2) { // dead again soon
		l.timers[tFault] = t + l.between(5*time.Second, 4*time.Minute)
	}
	if k := trouble(l.IntN(nTroubles)); l.chance(0.4) { // or when there is other trouble
		s := l.weather.spells[k]
		l.timers[tFault] = max(t, l.between(s.from-time.Minute, s.to))
	}
}
