// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"time"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/transport"
)

// surroundings are the watches that are open at a moment.
type surroundings struct {
	at      time.Time
	streams []transport.Stream
}

// look returns those of now, or of half a second ago: a thousand informers that stall
// together look once.
func (r *Recorder) look(now time.Time) *surroundings {
	if s := r.seen.Load(); s != nil && now.Sub(s.at).Abs() < 500*time.Millisecond {
		return s
	}
	s := &surroundings{at: now}
	if t := r.attached().Transport; t != nil {
		s.streams = t.Streams()
	}
	r.seen.Store(s)
	return s
}

// justBegun is what has to do with the beginning of an incident.
const justBegun = 20 * time.Second

// suspect returns the watch that is to blame: the newest, unless that was never answered,
// or has only just begun, which is what package freshness does before it suspects one.
func (rec *record) suspect(newest Watch, now time.Time) Watch {
	e := rec.ended
	if !e.Ended.IsZero() && (newest.Answered.IsZero() || now.Sub(newest.Since) < justBegun && now.Sub(e.Ended) < justBegun) {
		return e
	}
	return newest
}

// lively is by how much a watch has to have outlived another one: those that fall silent
// together do not do so in the same instant.
const lively = 5 * time.Second

// beside counts the watches beside the suspected one, and completes what is known of that.
func (s *surroundings) beside(i *Incident, name freshness.Informer) {
	w := &i.Evidence.Watch
	for _, st := range s.streams {
		if of(st) == name && about(st.Since, w.Since) {
			on := watchOn(st)
			on.Open, on.Ended, on.EndedBy = w.Open, w.Ended, w.EndedBy
			*w = on
		}
	}
	since := w.silentSince().Add(lively)
	same, other := &i.Evidence.SameConnection, &i.Evidence.OtherConnections
	for _, st := range s.streams {
		switch {
		case of(st) == name:
		case w.Local != "" && st.Local == w.Local && st.Remote == w.Remote:
			same.Watches++
			if st.LastByte.After(since) {
				same.Alive++
				if len(i.alive) < aliveAtMost {
					i.alive = append(i.alive, of(st))
				}
			}
		default:
			other.Watches++
			if st.LastByte.After(since) {
				other.Alive++
			}
		}
	}
}

// of names the informer of a stream.
func of(s transport.Stream) freshness.Informer {
	return freshness.Informer{Group: s.GVR.Group, Version: s.GVR.Version, Resource: s.GVR.Resource, Namespace: s.Namespace}
}

// about tells whether two packages mean the same moment.
func about(a, b time.Time) bool { return a.Sub(b).Abs() < time.Second }

func watchOf(w freshness.Watch) Watch {
	return Watch{
		Open: w.Open, Since: w.Since, Answered: w.Answered, Ended: w.Ended, TimeoutSeconds: w.Timeout.Seconds(),
		Local: w.Local, Remote: w.Remote, Reused: w.Reused,
	}
}

func watchOn(s transport.Stream) Watch {
	return Watch{
		Open: true, Since: s.Since, Answered: s.Answered, TimeoutSeconds: s.Timeout.Seconds(),
		Protocol: s.Protocol, LastByte: s.LastByte, Bytes: s.Bytes, Local: s.Local, Remote: s.Remote, Reused: s.Reused,
	}
}
