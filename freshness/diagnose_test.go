// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestDiagnose(t *testing.T) {
	gr := schema.GroupResource{Group: "example.com", Resource: "widgets"}
	var number struct{ N int }
	_, quantity := resource.ParseQuantity("many")
	_, clock := time.Parse(time.RFC3339, "yesterday")
	late := apierrors.NewTimeoutError("Too large resource version: 7, current: 5", 1)
	late.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	tests := []struct {
		name  string
		err   error
		want  cause
		state readState
	}{
		{"none", nil, causeNone, readOK},
		{"refused connection", &url.Error{Op: "Get", Err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}, causeUnreachable, readUnreachable},
		{"TLS, whose words look like a decoder's", &url.Error{Op: "Get", Err: errors.New("tls: error decoding message")}, causeUnreachable, readUnreachable},
		{"time-out", errReadTimeout, causeUnreachable, readUnreachable},
		{"context", context.DeadlineExceeded, causeUnreachable, readUnreachable},
		{"cut in the middle", io.ErrUnexpectedEOF, causeUnreachable, readUnreachable},
		{"body lost", errors.New("unexpected error when reading response body. Please retry. Original error: http2: client connection lost"), causeUnreachable, readUnreachable},
		{"something else", errors.New("boom"), causeUnreachable, readUnreachable},
		{"401", apierrors.NewUnauthorized("no"), causeUnauthorized, readUnreachable},
		{"403", apierrors.NewForbidden(gr, "", errors.New("no")), causeForbidden, readBlind},
		{"404", apierrors.NewNotFound(gr, ""), causeNotServed, readBlind},
		{"410", apierrors.NewResourceExpired("too old"), causeExpired, readOK},
		{"conversion, behind a watch cache that cannot be filled", apierrors.NewTooManyRequests("storage is (re)initializing: failed to list: conversion webhook for example.com/v1, Kind=Widget failed", 1), causeConversion, readBlind},
		{"405", apierrors.NewMethodNotSupported(gr, "list"), causeRefused, readBlind},
		{"400", apierrors.NewBadRequest("no"), causeRefused, readBlind},
		{"429", apierrors.NewTooManyRequests("later", 1), causeBusy, readUnreachable},
		{"429, late", apierrors.NewTooManyRequests(late.Error(), 1), causeLate, readUnreachable},
		{"504, late", late, causeLate, readUnreachable},
		{"503", apierrors.NewServiceUnavailable("no"), causeBusy, readUnreachable},
		{"500", apierrors.NewInternalError(errors.New("etcd")), causeBroken, readUnreachable},
		{"conversion", apierrors.NewInternalError(errors.New("conversion webhook for example.com/v1, Kind=Widget failed: Post \"https://...\": dial")), causeConversion, readBlind},
		{"event that cannot be decoded", apierrors.FromObject(apierrors.NewClientErrorReporter(http.StatusInternalServerError, "GET", "ClientWatchDecoding").AsObject(errors.New("unable to decode an event from the watch stream: json"))), causeUndecodable, readBlind},
		{"wrong type", json.Unmarshal([]byte(`{"N":"x"}`), &number), causeUndecodable, readBlind},
		{"wrong quantity", quantity, causeUndecodable, readBlind},
		{"wrong time", clock, causeUndecodable, readBlind},
		{"no order", fmt.Errorf("%w: %q", errNotComparable, "x"), causeVersions, readBlind},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := diagnose(tt.err)
			if got != tt.want || got.state() != tt.state {
				t.Errorf("%v: got cause %d, state %d; want %d, %d", tt.err, got, got.state(), tt.want, tt.state)
			}
			if text := got.explain(tt.err); strings.HasPrefix(text, ":") || strings.Contains(text, "\n") {
				t.Errorf("not a sentence: %q", text)
			}
		})
	}
}

// A read that the watch cache could not serve still tells where the datastore is.
func TestCommittedOf(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{apierrors.NewTooManyRequests("Too large resource version: 71, current: 5", 1), "71"},
		{apierrors.NewTooManyRequests("slow down", 1), ""},
		{errors.New("Too large resource version: 71, current: 5"), ""},
		{nil, ""},
	}
	for _, tt := range tests {
		if got, ok := committedOf(tt.err); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%v: got %q, %v; want %q", tt.err, got, ok, tt.want)
		}
	}
}

// Errors of decoding and conversion quote what they could not read, which may be anything.
func TestOneLineHoldsNoContents(t *testing.T) {
	_, clock := time.Parse(time.RFC3339, "hunter2")
	for _, err := range []error{clock, fmt.Errorf("unable to decode: %w", clock), apierrors.NewInternalError(fmt.Errorf("conversion webhook for example.com/v1, Kind=Widget failed: %w", clock))} {
		if got := oneLine(err); strings.Contains(got, "hunter2") || !strings.Contains(got, "(a value)") {
			t.Errorf("%q of %v", got, err)
		}
	}
	if got := oneLine(errors.New(`Get "https://10.0.0.1/api/v1/pods": EOF`)); !strings.Contains(got, "10.0.0.1") {
		t.Errorf("%q: where the server is is no content", got)
	}
}
