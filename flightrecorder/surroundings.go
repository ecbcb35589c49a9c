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

// suspect returns the watch that is to blame: the newest, unless that has only just begun,
// which is what package freshness does before it suspects one.
func (rec *record) suspect(newest Watch, now time.Time) Watch {
	const justBegun = 20 * time.Second
	if e := rec.ended; !e.Ended.IsZero() && now.Sub(newest.Since) < justBegun && now.Sub(e.Ended) < justBegun {
		return e
	}
	return newest
}

// beside counts the watches beside the suspected one, and completes what is known of that.
func (s *surroundings) beside(name freshness.Informer, w *Watch) (same, other Neighbours) {
	for _, st := range s.streams {
		if st.GVR.Group == name.Group && st.GVR.Resource == name.Resource && st.Namespace == name.Namespace && about(st.Since, w.Since) {
			on := watchOn(st)
			on.Open, on.Ended, on.EndedBy = w.Open, w.Ended, w.EndedBy
			*w = on
		}
	}
	since := w.silentSince()
	for _, st := range s.streams {
		if st.GVR.Group == name.Group && st.GVR.Resource == name.Resource && st.Namespace == name.Namespace {
			continue
		}
		n := &other
		if w.Local != "" && st.Local == w.Local && st.Remote == w.Remote {
			n = &same
		}
		n.Watches++
		if st.LastByte.After(since) {
			n.Alive++
		}
	}
	return same, other
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
