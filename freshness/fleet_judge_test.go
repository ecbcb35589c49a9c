// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"fmt"
	"time"
)

// referee knows the truth, and holds the state to what it promises.
type referee struct {
	broken    string // the promise that was, and when
	verdict   Verdict
	looked    time.Duration
	deaf      bool // the stream was lost while the machine slept, or a fault of that kind is not healed yet
	troubled  time.Duration
	stall     stall
	aftermath bool // a fault is over, and the informer is not proven fresh yet
}

// stall is what became of a fault.
type stall struct {
	over                          time.Duration
	awayAt                        time.Duration // when something was lacking for the first time
	streamless                    time.Duration // when there was last no stream for some looks
	looks                         int           // without one
	counted                       bool
	noticed, convicted, cps, died bool
}

const (
	// healing is how long what is cured by a resume or a relist may last, and how long
	// it may then take to be proven.
	healing = DefaultMaxStaleness + 75*time.Second
	// pathHealing is the same where the ladder pauses between its rounds.
	pathHealing = 8 * time.Minute
	// freezing is how long a frozen watch cache may take to be called so.
	freezing = 3 * time.Minute
)

// disturb notes trouble that may put off a proof.
func (j *referee) disturb(k trouble, s spell) {
	if k != collecting && k != clockSet {
		j.troubled = max(j.troubled, s.to)
	}
}

func (j *referee) faultBegins(t time.Duration, l *life) {
	j.stall = stall{}
	l.tally.kinds[l.faults.kind].injected++
}

func (j *referee) faultEnds(t time.Duration, l *life) {
	j.stall.over, j.aftermath = t, true
}

// ran is how long the process ran since from, before which it was away for awayAt.
func (l *life) ran(from, t time.Duration) time.Duration {
	return t - from - (l.away - l.judge.stall.awayAt)
}

// fail notes a broken promise.
func (l *life) fail(t time.Duration, format string, args ...any) {
	if l.judge.broken == "" && !l.lax {
		l.judge.broken = fmt.Sprintf("at %v: ", t) + fmt.Sprintf(format, args...)
	}
}

// judgeAction looks whether a cure is called for.
func (l *life) judgeAction(t time.Duration, a action) {
	j, f := &l.judge, &l.faults
	if a.kind != actCure {
		return
	}
	l.tally.cures[a.rung]++
	if f.active && f.lack <= t {
		l.notice(t)
	}
	ill := f.active || j.aftermath || j.deaf
	switch {
	case a.rung == Resume:
	case !ill:
		l.fail(t, "cured by %v, and nothing is wrong", a.rung)
	case f.kind.frozen() && !j.deaf && !a.move && l.streams():
		l.fail(t, "cured by %v, and the API server is to blame", a.rung)
	}
}

// judgeLook compares what the state says with the truth.
func (l *life) judgeLook(t time.Duration, now time.Time) {
	j, f := &l.judge, &l.faults
	v := l.subject.verdict(now)
	if v != j.verdict {
		l.note(t, "verdict "+v.String(), 0)
	}
	ill := f.active || j.aftermath || j.deaf
	if !ill && t > j.troubled+3*time.Minute && l.path == plain && !l.cluster.noProgress {
		l.tally.spent[j.verdict] += t - j.looked
	}
	j.verdict, j.looked = v, t
	l.judgeClaim(t, now)
	if v == Fresh && !l.doubts() && (l.stream == nil || l.stream.silent == never) {
		j.deaf = false
	}
	switch {
	case v == Diverged:
		l.fail(t, "Diverged, and no events were lost")
	case v == Stalled && !ill:
		l.fail(t, "Stalled, and nothing is wrong")
	case v == Stalled && f.kind.frozen() && !j.deaf && l.streams():
		l.fail(t, "Stalled, and the API server is to blame")
	case v == ControlPlaneStalled && !(f.kind.frozen() && (f.active || j.aftermath)):
		l.fail(t, "ControlPlaneStalled, and no watch cache is frozen")
	}
	died := l.failsLiveness(v)
	if died && !((f.active || j.aftermath) && f.kind == deadPath && t-f.from > DefaultFailAfter) {
		l.fail(t, "liveness fails, and nothing calls for it")
	}
	switch {
	case f.active:
		l.judgeFault(t, v, died)
	case j.aftermath:
		l.judgeAftermath(t, v)
	}
}

// judgeClaim holds the bound against what the cache really lacks.
func (l *life) judgeClaim(t time.Duration, now time.Time) {
	fresh := l.fresh()
	if len(l.cluster.commits) == 0 || fresh.IsZero() {
		return
	}
	lacks, claimed := l.cluster.commits[0].at, l.clock.when(fresh)
	if lacks < claimed {
		l.fail(t, "claims to hold every change up to %v, and lacks one of %v", claimed, lacks)
	}
	if bound := l.bound(now); l.clock.setAt < claimed && bound < t-lacks {
		l.fail(t, "states a bound of %v, and lacks something %v old", bound, t-lacks)
	}
}

// judgeFault looks whether a fault is noticed, judged and healed in time.
func (l *life) judgeFault(t time.Duration, v Verdict, died bool) {
	j, f := &l.judge, &l.faults
	s := &j.stall
	if s.looks++; l.streams() {
		s.looks = 0
	} else if s.looks > 3 { // not between a watch that ends and the next
		s.streamless = t
	}
	if t < f.lack {
		return
	}
	l.count(t)
	if v != Fresh || l.doubts() {
		l.notice(t)
	}
	since := l.ran(f.lack, t)
	calm := t > j.troubled && l.ran(max(f.lack, j.troubled), t) > 0
	if !s.noticed && since > l.maxStaleness+l.ticks.every {
		l.fail(t, "a fault (%v) that matters since %v is not noticed", faultNames[f.kind], f.lack)
	}
	lasted := t - max(f.lack, j.troubled) - (l.away - s.awayAt)
	s.convicted = s.convicted || v == Stalled
	s.cps = s.cps || v == ControlPlaneStalled
	s.died = s.died || died
	limit := healing
	if l.maxStaleness > DefaultMaxStaleness {
		limit += l.maxStaleness - DefaultMaxStaleness
	}
	switch {
	case !calm, l.cluster.noProgress: // there it is Blind, and nobody knows
	case f.kind == silence && lasted > limit, f.kind == stuck && lasted > limit+time.Minute:
		l.fail(t, "a fault (%v) that matters since %v is not healed", faultNames[f.kind], f.lack)
	case f.kind == deadPath && l.resumeOnly && t < f.to && !died && lasted > limit+DefaultFailAfter+time.Minute:
		l.fail(t, "nothing helps since %v, and liveness does not fail", f.lack)
	case f.kind == frozenAll && !s.cps && l.streams() && l.follows() && !l.cluster.noProgress && min(lasted, t-s.streamless) > limit+freezing:
		l.fail(t, "a watch cache frozen since %v is called %v", f.lack, v)
	}
}

// count notes for how long the process had not run when something was lacking.
func (l *life) count(t time.Duration) {
	if s := &l.judge.stall; !s.counted {
		s.counted, s.awayAt = true, l.away-max(0, l.asleepTo-l.faults.lack)
	}
}

// notice notes that a fault has been.
func (l *life) notice(t time.Duration) {
	s, f := &l.judge.stall, &l.faults
	l.count(t)
	if s.noticed {
		return
	}
	s.noticed = true
	k := &l.tally.kinds[f.kind]
	k.noticed.add(l.ran(f.lack, t))
}

// streams tells whether the informer has a stream that is past its initial events.
// While it begins anew, and the API server lets it wait, it is that which counts.
func (l *life) streams() bool { return l.stream != nil && !l.reflector.initial }

// judgeAftermath looks whether what is over is known to be.
func (l *life) judgeAftermath(t time.Duration, v Verdict) {
	j, f := &l.judge, &l.faults
	s := &j.stall
	k := &l.tally.kinds[f.kind]
	if v == Fresh && !l.doubts() || l.cluster.noProgress && v == Blind {
		j.aftermath = false
		k.over(s)
		k.healed.add(t - s.over)
		return
	}
	limit := healing
	if f.kind == deadPath {
		limit = pathHealing
	}
	if t > j.troubled && t-max(s.over, j.troubled, l.asleepTo) > limit {
		l.fail(t, "a fault (%v) is over since %v, and the verdict is %v", faultNames[f.kind], s.over, v)
	}
}
