// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"net/http"
	"net/url"
	"testing"
	"time"
)

func TestClassify(t *testing.T) {
	type want struct {
		kind             requestKind
		timeout          time.Duration
		initial, resumes bool
	}
	tests := []struct {
		method, url string
		want        want
	}{
		{"GET", "/api/v1/pods", want{kind: list}},
		{"GET", "/api/v1/namespaces/a/pods?limit=500&continue=x", want{kind: list}},
		{"GET", "/api/v1/pods?watch=true&resourceVersion=7&timeoutSeconds=417", want{watch, 417 * time.Second, false, true}},
		{"GET", "/api/v1/pods?watch=1", want{kind: watch}},
		{"GET", "/api/v1/pods?watch", want{kind: watch}},
		{"GET", "/api/v1/pods?watch=True", want{kind: watch}},
		{"GET", "/api/v1/pods?watch=yes", want{kind: watch}},
		{"GET", "/api/v1/pods?watch=false", want{kind: list}},
		{"GET", "/api/v1/pods?watch=FALSE", want{kind: list}},
		{"GET", "/api/v1/pods?watch=0", want{kind: list}},
		{"GET", "/api/v1/pods?labelSelector=watch", want{kind: list}},
		{"GET", "/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=7", want{kind: watch, initial: true}},
		{"GET", "/api/v1/pods?watch=true&resourceVersion=0", want{kind: watch}},
		{"GET", "/api/v1/pods?watch=true&timeoutSeconds=-5", want{kind: watch}},
		{"GET", "/api/v1/pods?watch=true&timeoutSeconds=x", want{kind: watch}},
		{"GET", "/api/v1/watch/pods", want{kind: watch}},
		{"GET", "/api/v1/watch/namespaces/a/pods/b", want{kind: watch}},
		{"GET", "/api/v1/namespaces/a/pods/b", want{}},
		{"GET", "/api/v1/namespaces/a/pods/b?watch=true", want{}},
		{"GET", "/api/v1/namespaces/a/pods/b/log?follow=true&watch=true", want{}},
		{"GET", "/api/v1/namespaces/a/services/b/proxy/api/v1/pods?watch=true", want{}},
		{"GET", "/api/v1/namespaces/a/pods/b/exec?command=watch", want{}},
		{"GET", "/version?watch=true", want{}},
		{"GET", "/apis/apps/v1", want{}},
		{"POST", "/api/v1/namespaces/a/pods?watch=true", want{}},
		{"DELETE", "/api/v1/namespaces/a/pods", want{}},
	}
	for _, tt := range tests {
		u, err := url.Parse("https://host" + tt.url)
		if err != nil {
			t.Fatal(err)
		}
		c := classify(&http.Request{Method: tt.method, URL: u})
		if got := (want{c.kind, c.timeout, c.initial, c.resumes}); got != tt.want {
			t.Errorf("%s %s: %+v, want %+v", tt.method, tt.url, got, tt.want)
		}
	}
}

func TestWithTimeoutLeavesTheOriginal(t *testing.T) {
	u, err := url.Parse("https://host/api/v1/pods?watch=true&timeoutSeconds=417&fieldSelector=a%3Db")
	if err != nil {
		t.Fatal(err)
	}
	before := u.String()
	req := &http.Request{Method: http.MethodGet, URL: u}
	got := withTimeout(req, 90*time.Second)
	if q := got.URL.Query(); q.Get("timeoutSeconds") != "90" || q.Get("fieldSelector") != "a=b" || q.Get("watch") != "true" {
		t.Errorf("query = %v, want timeoutSeconds=90 and the rest as it was", q)
	}
	if req.URL.String() != before {
		t.Errorf("the request was changed to %v", req.URL)
	}
}
