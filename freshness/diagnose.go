// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// errNotComparable is matched by the error where resourceVersions have no order.
var errNotComparable = errors.New("resourceVersions do not compare")

// cause is what an error of a request says about who has to do something.
type cause int

const (
	causeNone        cause = iota
	causeUnreachable       // no answer
	causeBusy              // an answer, but not now
	causeLate              // the watch cache is behind the datastore
	causeBroken            // the API server fails
	causeUnauthorized
	causeForbidden
	causeNotServed
	causeConversion  // a conversion webhook fails
	causeUndecodable // an object does not fit the program's type
	causeVersions    // resourceVersions do not compare
	causeExpired     // what was asked for is history: reflectors list again by themselves
	causeRefused     // a question that this API server does not take
)

// diagnose tells what an error of a list or watch is caused by.
func diagnose(err error) cause {
	if err == nil {
		return causeNone
	}
	var onTheWay *url.Error
	var answered apierrors.APIStatus
	switch {
	case errors.Is(err, errNotComparable):
		return causeVersions
	case errors.As(err, &answered):
		return diagnoseStatus(err, answered.Status())
	case !errors.As(err, &onTheWay) && undecodable(err):
		return causeUndecodable
	default:
		return causeUnreachable
	}
}

// diagnoseStatus is diagnose for an answer of the API server's.
func diagnoseStatus(err error, status metav1.Status) cause {
	switch {
	case status.Code >= 429 && strings.Contains(status.Message, "conversion webhook"):
		// From the conversion itself, or from a watch cache that cannot be filled for it
		// (apiextensions-apiserver 0.37, pkg/apiserver/conversion/webhook_converter.go).
		return causeConversion
	case tooLarge(err):
		return causeLate
	case status.Code == http.StatusUnauthorized:
		return causeUnauthorized
	case status.Code == http.StatusForbidden:
		return causeForbidden
	case status.Code == http.StatusNotFound:
		return causeNotServed
	case status.Code == http.StatusGone:
		return causeExpired
	case status.Code == http.StatusTooManyRequests, status.Code == http.StatusServiceUnavailable, status.Code == http.StatusGatewayTimeout:
		return causeBusy
	case status.Code >= 500 && strings.Contains(status.Message, "unable to decode an event"):
		return causeUndecodable // client-go 0.37, apimachinery's pkg/watch/streamwatcher.go
	case status.Code >= 500:
		return causeBroken
	default:
		return causeRefused
	}
}

// tooLarge tells whether the watch cache has not reached the resourceVersion that
// it was asked for. Behind a consistent read that is a 504, or a 429 without the
// cause (apiserver 0.37, pkg/storage/errors.go and pkg/storage/cacher/delegator.go).
func tooLarge(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) || strings.Contains(err.Error(), "Too large resource version")
}

// undecodable tells whether an answer came that could not be understood. Decoders
// have no error type in common, so that their words have to do: those of
// sigs.k8s.io/json, time, resource.Quantity, protobuf and base64.
func undecodable(err error) bool {
	text := err.Error()
	return slices.ContainsFunc([]string{
		"json:", "unmarshal", "decod", "parsing time", "quantit", "proto:", "protobuf", "illegal base64",
	}, func(s string) bool { return strings.Contains(text, s) })
}

var causeNames = [...]string{
	"", "unreachable", "busy", "late", "broken", "unauthorized", "forbidden", "not-served", "conversion", "undecodable", "versions", "expired", "refused",
}

// name is the cause in one word.
func (c cause) name() string { return causeNames[c] }

// state is what the cause means for proofs. Whatever keeps the question from being
// answered is Unreachable; an answer that no repetition will change is Blind.
func (c cause) state() readState {
	switch c {
	case causeNone, causeExpired:
		return readOK
	case causeUnreachable, causeBusy, causeLate, causeBroken, causeUnauthorized:
		return readUnreachable
	default:
		return readBlind
	}
}

// explain says in a sentence what the cause is and what to do, with the error.
func (c cause) explain(err error) string {
	return fmt.Sprintf("%s: %s", c, oneLine(err))
}

// String says what the cause is, and who has to do what.
func (c cause) String() string {
	switch c {
	case causeNone:
		return "the API server answers"
	case causeUnreachable:
		return "the API server does not answer"
	case causeBusy:
		return "the API server asks to come back later"
	case causeLate:
		return "the API server's watch cache is behind its datastore"
	case causeBroken:
		return "the API server fails"
	case causeUnauthorized:
		return "the API server does not accept this program's credential"
	case causeForbidden:
		return "this program may not read this kind, grant it list and watch"
	case causeNotServed:
		return "the API server does not serve this kind, its CRD is missing or this version is not served"
	case causeConversion:
		return "the API server cannot convert stored objects, look at the conversion webhook (a restart of this program does not help)"
	case causeUndecodable:
		return "an object does not fit this program's type, correct one or the other (a restart does not help)"
	case causeVersions:
		return "resourceVersions prove nothing here"
	case causeExpired:
		return "the API server has forgotten the resourceVersion that was asked for"
	case causeRefused:
		return "the API server does not take the question"
	default:
		return fmt.Sprintf("cause(%d)", int(c))
	}
}
