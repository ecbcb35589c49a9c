// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
)

// newTestWriter has an API server that answers nothing, and a clock that stands still.
func newTestWriter(t *testing.T) *writer {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	o, err := Options{Clock: clocktesting.NewFakeClock(noon)}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return newWriter(client, target{ref: pod}, o)
}

func TestJudge(t *testing.T) {
	status := func(code int32) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code}}
	}
	ending := apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "", errors.New("is being terminated"))
	ending.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for _, tt := range []struct {
		name string
		err  error
		want result
	}{
		{"nobody is there", &url.Error{Op: "Post", Err: errors.New("connection refused")}, failed},
		{"no answer", context.DeadlineExceeded, failed},
		{"401", status(http.StatusUnauthorized), failed},
		{"408", status(http.StatusRequestTimeout), failed},
		{"409", status(http.StatusConflict), failed},
		{"429", status(http.StatusTooManyRequests), failed},
		{"500", status(http.StatusInternalServerError), failed},
		{"504", status(http.StatusGatewayTimeout), failed},
		{"400", status(http.StatusBadRequest), rejected},
		{"404", status(http.StatusNotFound), rejected},
		{"422", status(http.StatusUnprocessableEntity), rejected},
		{"the namespace ends", ending, rejected},
		{"403, and nobody can be asked whether a right is missing", apierrors.NewForbidden(schema.GroupResource{}, "", nil), rejected},
		{"the answer to an earlier attempt was lost", apierrors.NewAlreadyExists(schema.GroupResource{}, ""), written},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := newTestWriter(t).judge(t.Context(), tt.err)
			if got.result != tt.want || (got.err == nil) != (tt.want == written) {
				t.Errorf("%s, %v, want %s", resultNames[got.result], got.err, resultNames[tt.want])
			}
		})
	}
}

// Events of one moment have names of their own, which are valid whatever the object is
// called.
func TestEventNames(t *testing.T) {
	w := newTestWriter(t)
	names := map[string]bool{}
	for _, name := range []string{pod.Name, pod.Name, "system:node:x", "x"} {
		w.target.ref.Name = name
		e := w.event(newNote(InformerStalled, noon, "a", "text"))
		if names[e.Name] || len(validation.IsDNS1123Subdomain(e.Name)) > 0 {
			t.Errorf("%q is the name of an Event, again: %v", e.Name, names[e.Name])
		}
		names[e.Name] = true
	}
}
