// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"context"
	"errors"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	recordutil "k8s.io/client-go/tools/record/util"
	"k8s.io/utils/clock"
)

const (
	// similarAtMost Events of one reason are told apart. What follows within keptFor is
	// one more Event, which is brought up to date.
	similarAtMost = 5
	// keptFor is how long an API server keeps Events (--event-ttl, 1h by default in 1.37).
	keptFor = 3600 // seconds
)

// writer turns notes into Events and writes them. It is used by one goroutine at a time.
//
// What is the same, or much alike, is found by client-go's correlator, and becomes one
// Event that is counted up. Its broadcaster is not used: it retries for two minutes what
// it then drops, loses what is queued when it is shut down, and logs whole Events.
type writer struct {
	client     kubernetes.Interface
	target     target
	component  string
	instance   string
	clock      clock.PassiveClock
	correlator *record.EventCorrelator
	named      int64 // the newest Event is after this time
}

func newWriter(client kubernetes.Interface, t target, o Options) *writer {
	return &writer{
		client: client, target: t, component: o.Component, instance: instance(), clock: o.Clock,
		correlator: record.NewEventCorrelatorWithOptions(record.CorrelatorOptions{
			MaxEvents: similarAtMost + 1, MaxIntervalInSeconds: keptFor, Clock: o.Clock,
			MessageFunc: func(e *corev1.Event) string { return cut(record.EventAggregatorByReasonMessageFunc(e), messageLimit) },
			// What may be written is decided before, where nothing is lost: see pending. This
			// never refuses what that has allowed.
			BurstSize: burst + len(reasonNames), QPS: 1 / float32(refill.Seconds()),
		}),
	}
}

// job is an Event to be written, with what the correlator has made of it, once it has.
type job struct {
	note  note
	event *corev1.Event
	patch []byte // nil: it is a new one
}

// result is how a write has ended.
type result int

const (
	written   result = iota
	failed           // and is tried again
	forbidden        // a right is missing
	rejected         // by the API server, for another reason
	dropped          // there is nothing that it could be about
)

var resultNames = [...]string{"ok", "error", "forbidden", "rejected", "dropped"}

// outcome is a result with its reason.
type outcome struct {
	result
	err error
}

// check finds out, before anything has happened, what will keep Events from being written.
func (w *writer) check(ctx context.Context) outcome {
	if w.target.none != nil {
		return outcome{dropped, w.target.none}
	}
	_ = w.target.resolve(ctx, w.client) // the Lease may not be there yet
	verbs, err := missing(ctx, w.client.AuthorizationV1().SelfSubjectAccessReviews(), w.target.namespace())
	if err == nil && len(verbs) > 0 {
		return outcome{forbidden, errors.New(lacking(verbs, w.target.namespace()))}
	}
	return outcome{} // or nobody can tell
}

// write tries once.
func (w *writer) write(ctx context.Context, j *job) outcome {
	if w.target.none != nil {
		return outcome{dropped, w.target.none}
	}
	if err := w.target.resolve(ctx, w.client); err != nil {
		if apierrors.IsForbidden(err) {
			return outcome{forbidden, fmt.Errorf("%w: bind the Role of package watchcanary", err)}
		}
		return outcome{failed, err}
	}
	if j.event == nil {
		got, err := w.correlator.EventCorrelate(w.event(j.note))
		if err != nil || got.Skip {
			return outcome{dropped, errors.Join(err, errors.New("client-go's correlator refuses it"))}
		}
		j.event, j.patch = got.Event, got.Patch
	}
	got, err := w.send(ctx, j)
	if err == nil {
		w.correlator.UpdateState(got)
		return outcome{}
	}
	return w.judge(ctx, err)
}

func (w *writer) send(ctx context.Context, j *job) (*corev1.Event, error) {
	client := w.client.CoreV1().Events(j.event.Namespace)
	if j.patch != nil {
		got, err := client.Patch(ctx, j.event.Name, types.StrategicMergePatchType, j.patch, metav1.PatchOptions{})
		if !apierrors.IsNotFound(err) {
			return got, err
		}
		// It has expired, so a new one takes its place, which is to be of that name: the
		// correlator goes by it.
	}
	event := j.event.DeepCopy()
	event.ResourceVersion = ""
	return client.Create(ctx, event, metav1.CreateOptions{})
}

// judge says what an error means. Quotas, admission and the end of a namespace are
// answered with 403 as well.
func (w *writer) judge(ctx context.Context, err error) outcome {
	var status apierrors.APIStatus
	switch {
	case apierrors.IsAlreadyExists(err):
		return outcome{} // it was written, and the answer was lost
	case apierrors.IsForbidden(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		if verbs, _ := missing(ctx, w.client.AuthorizationV1().SelfSubjectAccessReviews(), w.target.namespace()); len(verbs) > 0 {
			return outcome{forbidden, errors.New(lacking(verbs, w.target.namespace()))}
		}
		return outcome{rejected, err}
	case errors.As(err, &status) && permanent(status.Status().Code):
		return outcome{rejected, err}
	}
	return outcome{failed, err}
}

// permanent tells whether an answer would be the same a minute later. 401 is not: a token
// is renewed.
func permanent(code int32) bool {
	switch code {
	case 401, 408, 409, 429:
		return false
	}
	return code >= 400 && code < 500
}

// event makes an Event of a note.
func (w *writer) event(n note) *corev1.Event {
	w.named = max(w.named+1, w.clock.Now().UnixNano())
	ref := w.target.ref
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name:      recordutil.GenerateEventName(ref.Name, w.named),
			Namespace: w.target.namespace(),
		},
		InvolvedObject:      ref,
		Reason:              n.reason.String(),
		Message:             n.message(),
		Type:                n.reason.kind(),
		FirstTimestamp:      metav1.NewTime(n.first),
		LastTimestamp:       metav1.NewTime(n.last),
		Count:               int32(min(n.count, math.MaxInt32)), //nolint:gosec // bounded
		Source:              corev1.EventSource{Component: w.component, Host: w.host()},
		ReportingController: w.component,
		ReportingInstance:   w.instance,
	}
}

// host tells replicas apart whose Events are about one Lease.
func (w *writer) host() string {
	if w.target.ref.Kind == "Pod" {
		return ""
	}
	return w.instance
}
