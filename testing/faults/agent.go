// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "net/http"

// agent sends requests under another name, so that they can be told from those of
// the informers, whose connection they share.
type agent struct {
	name string
	http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (a *agent) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", a.name)
	return a.RoundTripper.RoundTrip(r)
}
