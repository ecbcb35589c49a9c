// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/freshwatch/freshwatch/internal/errtext"
)

// Informer names an informer by what it watches. Namespace is empty for all
// namespaces and for cluster-scoped kinds.
//
// The names are read off the informer's own requests. Before the first one,
// and over HTTP/1.1, they are guessed from the type of its objects.
type Informer struct {
	Group, Version, Resource, Namespace string
}

// String returns resource.group/version, and the namespace if there is one.
func (i Informer) String() string {
	s := i.Resource
	if i.Group != "" {
		s += "." + i.Group
	}
	if i.Version != "" {
		s += "/" + i.Version
	}
	if i.Namespace != "" {
		s += " in " + i.Namespace
	}
	return s
}

// tracked is an informer and what is known of it. The monitor's lock guards
// state, verdict, since and the read fields.
type tracked struct {
	informer Informed
	lw       *listerWatcher
	guess    Informer
	byEvent  func(rv string) bool // mayBeEvent

	objects  int // in the store, when it was last walked over
	state    state
	verdict  Verdict
	since    time.Time
	rests    time.Time // is not looked at before
	spared   bool      // Check passes whatever becomes of it
	lagging  Level     // as last told
	handlers handlers

	reads   [actCure]pendingRead // under way, by kind
	culprit string               // the object that cannot be decoded; empty: none is known
	accused time.Time            // when it was last searched for
}

// pendingRead is a read under way.
type pendingRead struct {
	cancel context.CancelCauseFunc // nil: none
	since  time.Time               // when it had its turn; zero: not yet, or it has a timeout of its own
}

// stopReads cancels the reads that began before.
func (t *tracked) stopReads(before time.Time) {
	for i, r := range t.reads {
		if r.cancel != nil && !r.since.IsZero() && r.since.Before(before) {
			r.cancel(errReadTimeout)
			t.reads[i] = pendingRead{}
		}
	}
}

// abandon cancels everything that is under way.
func (t *tracked) abandon() {
	for i, r := range t.reads {
		if r.cancel != nil {
			r.cancel(context.Canceled)
			t.reads[i] = pendingRead{}
		}
	}
}

// look observes the informer.
func (t *tracked) look(now time.Time) observation {
	o := observation{now: now, synced: t.informer.HasSynced(), reflected: t.informer.LastSyncResourceVersion()}
	o.stored = t.stored(o.reflected)
	o.stream, o.previous, o.err = t.lw.look()
	o.byEvent = t.byEvent
	return o
}

// stored is the resourceVersion that reads of the cache are at. With client-go's
// AtomicFIFO gate off the store does not know it, and the reflector's, which is
// ahead by what is still queued, has to do.
func (t *tracked) stored(reflected string) string {
	if rv := t.informer.GetStore().LastStoreSyncResourceVersion(); rv != "" {
		return rv
	}
	return reflected
}

// mayBeEvent tells whether an event may have brought the store to rv: an object has
// that resourceVersion, or some are gone since this was last asked. Otherwise it was
// a bookmark. It walks over the store, once for each proof.
func (t *tracked) mayBeEvent(rv string) bool {
	objects := t.informer.GetStore().List()
	gone := len(objects) < t.objects
	t.objects = len(objects)
	return gone || holds(objects, rv)
}

// holds tells whether an object has the resourceVersion.
func holds(objects []any, rv string) bool {
	for _, obj := range objects {
		if m, err := meta.Accessor(obj); err == nil && m.GetResourceVersion() == rv {
			return true
		}
	}
	return false
}

// tellHow adds to an event how the informer stood before anything was done about it. It
// walks over the store where that has moved, so it is for what happens rarely.
func (t *tracked) tellHow(e *Event) {
	s := &t.state
	e.Watch, e.ResourceVersion, e.Moved, e.Cause = s.watch.describe(), s.stored, s.moved, diagnose(t.err()).name()
	e.ByEvent = !s.moved.IsZero() && holds(t.informer.GetStore().List(), s.stored)
}

// holdsOlder tells whether the store has the object at a resourceVersion before rv.
func (t *tracked) holdsOlder(key, rv string) bool {
	obj, found, err := t.informer.GetStore().GetByKey(key)
	if err != nil || !found {
		return false
	}
	m, err := meta.Accessor(obj)
	return err == nil && comparableRV(rv) && comparableRV(m.GetResourceVersion()) && !reached(m.GetResourceVersion(), rv)
}

// name is the informer's name as far as it is known.
func (t *tracked) name() Informer {
	gvr, ns, ok := t.lw.resource()
	if !ok {
		return t.guess
	}
	return Informer{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource, Namespace: ns}
}

// guessInformer makes the best of an object's type.
func guessInformer(obj runtime.Object) Informer {
	if v := reflect.ValueOf(obj); obj == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return Informer{Resource: "unknown"}
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	if gvk.Kind == "" {
		gvk = schema.GroupVersionKind{Kind: reflect.Indirect(reflect.ValueOf(obj)).Type().Name()}
	}
	gvr, _ := meta.UnsafeGuessKindToResource(gvk)
	return Informer{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource}
}

// reason says in a sentence why the verdict is what it is, and what to do.
func (t *tracked) reason(v Verdict, now time.Time) string {
	s := &t.state
	if s.misled {
		return "the informer does not use the ListerWatcher that it is tracked with: make it with what WrapListerWatcher returned"
	}
	switch v {
	case Syncing:
		return t.syncReason()
	case Fresh:
		return fmt.Sprintf("holds every change up to %v ago%s", s.bound(now).Round(time.Second), t.handlerReason())
	case Suspect:
		return t.suspectReason()
	case Stalled:
		if s.doubt != nil && s.doubt.back {
			return fmt.Sprintf("the API server is at %s, before what this cache has already seen: the datastore went back in time", s.doubt.proof.rv)
		}
		if s.doubt.stuck {
			return fmt.Sprintf("the cache stands at %s and takes nothing from its stream: something in this process blocks it, such as a transform or an indexer; a restart helps", s.stored)
		}
		return fmt.Sprintf("the API server has resourceVersion %s in its cache, this informer is at %s: its stream is dead", s.doubt.proof.rv, s.stored)
	case ControlPlaneStalled:
		return fmt.Sprintf("the API server's own watch cache stands at %s, behind %s: restarting this process does not help, look at the API server and its datastore%s", s.doubt.late.rv, s.doubt.proof.rv, s.doubt.serverReason())
	case Diverged:
		d := s.audits.diverged
		return fmt.Sprintf("%d of %d objects differ from the API server's though the stream moves, so events were lost: %v", len(d), s.audits.compared, d)
	case Unreachable:
		return t.failure()
	case Blind:
		if s.down == readOK && s.readErr == nil {
			return "the API server's watch cache does not follow its datastore for this kind, so a quiet informer cannot be told from a stalled one"
		}
		return t.failure()
	default:
		return ""
	}
}

// failure says what keeps the informer from being watched, or proven.
func (t *tracked) failure() string { return t.explain(t.err()) }

// err is how the informer's requests, or those to prove it, fail.
func (t *tracked) err() error {
	err := t.state.readErr
	if t.state.down != readOK {
		err = t.state.downErr
	}
	// The informer's own request may have been told more: a read does not wait as long
	// as client-go repeats it.
	if _, _, told := t.lw.look(); told != nil && diagnose(err) < diagnose(told) {
		err = told
	}
	return err
}

// explain says what an error of the informer's requests is caused by.
func (t *tracked) explain(err error) string {
	c := diagnose(err)
	if c == causeUndecodable && t.culprit != "" {
		return fmt.Sprintf("%s does not fit this program's type, correct one or the other (a restart does not help): %s", t.culprit, oneLine(err))
	}
	return c.explain(err)
}

func (t *tracked) syncReason() string {
	current, _, err := t.lw.look()
	switch {
	case t.state.synced:
		return "synced, but not proven fresh yet"
	case err != nil:
		return "the initial list fails: " + t.explain(err)
	case current.id == 0 && !current.listing:
		return "the informer is not started"
	case current.open && !current.initial:
		return "the initial list has come, but the store has not taken all of it yet"
	default:
		return "the initial list is under way"
	}
}

// handlerReason says what handlers that block keep waiting.
func (t *tracked) handlerReason() string {
	if t.behind() != LevelHandlers {
		return ""
	}
	return fmt.Sprintf(", but a handler has not returned for %v, and %d notifications wait", t.handlers.blocked().Round(time.Second), t.handlers.pending())
}

func (t *tracked) suspectReason() string {
	d := t.state.doubt
	switch {
	case d == nil:
		return "no proof for longer than allowed"
	case d.server == ServerLate:
		return "the API server's watch cache is behind as well; asking again"
	case d.curing:
		return "a proof is overdue; watching anew"
	default:
		return "a proof is overdue; asking the API server whether it has the change"
	}
}

// oneLine shortens an error to what fits a log line or a probe's answer, and holds nothing
// of an object: errors of decoding and conversion quote what they could not read.
func oneLine(err error) string {
	s := errtext.OneLine(err)
	if c := diagnose(err); c == causeUndecodable || c == causeConversion {
		s = errtext.WithoutValues(s)
	}
	const head, tail = 60, 140 // the cause stands at the end
	if len(s) > head+tail {
		s = s[:head] + " ... " + s[len(s)-tail:]
	}
	return s
}
