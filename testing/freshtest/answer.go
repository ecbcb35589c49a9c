// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// answer is an http.ResponseWriter that tells the request log the code.
type answer struct {
	http.ResponseWriter
	answered func(code int)
	begun    bool
}

func (a *answer) WriteHeader(code int) {
	if a.begun {
		return
	}
	a.begun = true
	a.answered(code)
	a.ResponseWriter.WriteHeader(code)
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.ResponseWriter.Write(p)
}

// Unwrap lets an http.ResponseController flush.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// writeJSON answers with v. An error of the write is the client's going away, which needs no answer.
func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

// writeError answers with the Status of err, and the Retry-After header if that has one.
func writeError(w http.ResponseWriter, err error) {
	status := statusOf(err)
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	writeJSON(w, int(status.Code), status)
}

// statusOf returns what an error looks like on the wire.
func statusOf(err error) metav1.Status {
	if errors.Is(err, errStopped) {
		err = apierrors.NewServiceUnavailable(err.Error())
	}
	status := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	var apiStatus apierrors.APIStatus
	if errors.As(err, &apiStatus) {
		status = apiStatus.Status()
	}
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return status
}

// scripted returns the error that a server answers with a code.
func scripted(code int, t target) error {
	gr := t.gvr.GroupResource()
	reason := errors.New("scripted by the test")
	switch code {
	case http.StatusUnauthorized:
		return apierrors.NewUnauthorized("Unauthorized")
	case http.StatusForbidden:
		return apierrors.NewForbidden(gr, t.name, reason)
	case http.StatusNotFound:
		return apierrors.NewNotFound(gr, t.name)
	case http.StatusConflict:
		return apierrors.NewConflict(gr, t.name, reason)
	case http.StatusGone:
		return apierrors.NewResourceExpired(reason.Error())
	case http.StatusTooManyRequests:
		return apierrors.NewTooManyRequests(reason.Error(), 1)
	case http.StatusInternalServerError:
		return apierrors.NewInternalError(reason)
	case http.StatusServiceUnavailable:
		return apierrors.NewServiceUnavailable(reason.Error())
	default:
		return apierrors.NewGenericServerResponse(code, t.verb, gr, t.name, reason.Error(), 0, true)
	}
}

// notServed is the answer for a path behind which there is nothing.
func notServed(r *http.Request) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, schema.GroupResource{}, "",
		fmt.Sprintf("%s is not served", r.URL.Path), 0, true)
}
