// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Status answers requests with an error in place of the API server: a metav1.Status with the reason that belongs to the
// code. Requests under way at the injection are not touched. Hits counts responses.
//
// A 410 of this kind is the answer to a watch or list; the other way in which the API server says that history is gone, an
// event inside of a stream, is ErrorEvent. With Match.Times and Match.For the error goes away by itself.
type Status struct {
	// Code is the HTTP status. Defaults to 500.
	Code int
	// RetryAfter is sent as a Retry-After header and in the details, in whole seconds, rounded up. Defaults to 1 s with 429,
	// to none with others. Mind that client-go repeats a request with such a header by itself.
	RetryAfter time.Duration
	// Message defaults to what the API server says with this code.
	Message string
}

func (Status) appliesTo(*attributes) bool { return true }

func (f Status) answer(ex *exchange, r *rule) *http.Response {
	ex.struck(r)
	s := f.status()
	body := encodeStatus(s)
	h := http.Header{"Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(body))}}
	if s.Details.RetryAfterSeconds > 0 {
		h.Set("Retry-After", strconv.Itoa(int(s.Details.RetryAfterSeconds)))
	}
	return &http.Response{
		StatusCode: int(s.Code), Header: h, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	}
}

// reasonOf returns the reason that apiserver gives with a code, and a message of its kind.
func reasonOf(code int) (reason metav1.StatusReason, message string) {
	switch code {
	case http.StatusUnauthorized:
		return metav1.StatusReasonUnauthorized, http.StatusText(code)
	case http.StatusForbidden:
		return metav1.StatusReasonForbidden, "forbidden: User cannot access the resource"
	case http.StatusNotFound:
		return metav1.StatusReasonNotFound, "the server could not find the requested resource"
	case http.StatusConflict:
		return metav1.StatusReasonConflict, "the object has been modified"
	case http.StatusGone:
		return metav1.StatusReasonExpired, "too old resource version: 1 (2)"
	case http.StatusTooManyRequests:
		return metav1.StatusReasonTooManyRequests, "Too many requests, please try again later."
	case http.StatusInternalServerError:
		return metav1.StatusReasonInternalError, "Internal error occurred"
	case http.StatusServiceUnavailable:
		return metav1.StatusReasonServiceUnavailable, "the server is currently unable to handle the request"
	case http.StatusGatewayTimeout:
		return metav1.StatusReasonTimeout, "Timeout: request did not complete within the allotted time"
	default:
		return metav1.StatusReasonUnknown, http.StatusText(code)
	}
}

func (f Status) status() metav1.Status {
	code := cmp.Or(f.Code, http.StatusInternalServerError)
	reason, message := reasonOf(code)
	retry := f.RetryAfter
	if retry == 0 && code == http.StatusTooManyRequests {
		retry = time.Second
	}
	seconds := int((retry + time.Second - 1) / time.Second)
	return newStatus(code, reason, cmp.Or(f.Message, message), seconds)
}

func newStatus(code int, reason metav1.StatusReason, message string, retryAfterSeconds int) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
		Details: &metav1.StatusDetails{RetryAfterSeconds: int32(retryAfterSeconds)},
	}
}

func encodeStatus(s metav1.Status) []byte {
	data, err := json.Marshal(s)
	if err != nil {
		return nil // a Status has nothing that could fail to marshal
	}
	return data
}
