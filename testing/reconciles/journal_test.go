// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/freshwatch/freshwatch/reconcile"
)

// journal keeps what is logged, errors as they are.
type journal struct {
	mu    sync.Mutex
	lines []line
}

type line struct {
	at     time.Time
	text   string
	err    error
	values map[string]string
}

func (j *journal) logger() logr.Logger { return logr.New(sink{journal: j}) }

// find returns the lines of one controller, or of all if it is "", with that text.
func (j *journal) find(text, controller string) []line {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(j.lines), func(l line) bool {
		return l.text != text || controller != "" && l.values["controller"] != controller
	})
}

const (
	saidFailed    = "Reconciler error" // controller-runtime's
	saidWedged    = "Reconcile is wedged: its context has ended, and it does not return. Its worker is lost until it does"
	saidReturned  = "Wedged reconcile has returned"
	saidAsked     = "A restart is asked for"
	saidNotNoted  = "A restart is not asked for, since it cannot be noted"
	saidExhausted = "No more restarts are asked for: those before have not helped, so look for the cause"
	saidAtStart   = "Restarts could not be noted, and so none would be asked for"
)

// overruns returns the errors with which controller-runtime was told of an overrun.
func (j *journal) overruns(controller string) (out []*reconcile.DeadlineError) {
	for _, l := range j.find(saidFailed, controller) {
		if over := (*reconcile.DeadlineError)(nil); errors.As(l.err, &over) {
			out = append(out, over)
		}
	}
	return out
}

// wantOverruns fails unless there were n, of the object called stuck, and no other error.
func (j *journal) wantOverruns(t *testing.T, ns, controller string, n int, limit time.Duration) {
	t.Helper()
	got := j.overruns(controller)
	if all := len(j.find(saidFailed, controller)); len(got) != n || all != n {
		t.Errorf("%d errors, of which %d are of deadlines, want %d", all, len(got), n)
	}
	for _, over := range got {
		if !errors.Is(over, reconcile.ErrDeadline) || over.Controller != controller || over.Request != ns+"/"+stuck || over.Limit != limit || over.Took < limit {
			t.Errorf("the error is %+v", over)
		}
	}
}

// sink implements logr.LogSink.
type sink struct {
	*journal
	with []any
}

func (sink) Init(logr.RuntimeInfo)  {}
func (sink) Enabled(level int) bool { return level == 0 }

func (s sink) Info(_ int, text string, kv ...any)      { s.add(nil, text, kv) }
func (s sink) Error(err error, text string, kv ...any) { s.add(err, text, kv) }
func (s sink) WithName(string) logr.LogSink            { return s }
func (s sink) WithValues(kv ...any) logr.LogSink       { return sink{s.journal, slices.Concat(s.with, kv)} }

func (s sink) add(err error, text string, kv []any) {
	l := line{at: time.Now(), text: text, err: err, values: map[string]string{}}
	kv = slices.Concat(s.with, kv)
	for i := 0; i+1 < len(kv); i += 2 {
		l.values[fmt.Sprint(kv[i])] = fmt.Sprint(kv[i+1])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, l)
}
