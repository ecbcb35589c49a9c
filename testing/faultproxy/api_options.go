// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"fmt"
	"net"

	"github.com/go-logr/logr"
)

// DefaultRequestLimit is how many requests an API proxy remembers: about 5 MB, and some 20 minutes of an operator that
// sends ten requests a second.
const DefaultRequestLimit = 10_000

// APIOptions configures an API proxy; the zero value works.
type APIOptions struct {
	// HTTP1Only keeps the proxy from offering HTTP/2 to its clients, as some corporate proxies do. Towards the API server
	// it speaks what that offers.
	HTTP1Only bool
	// Via is the host:port to dial in place of the upstream's, while TLS still expects the upstream's certificate: a TCP
	// proxy behind this one. Defaults to the upstream itself.
	Via string
	// UseUpstreamCredentials sends requests that carry no Authorization header with the credentials of the upstream config,
	// client certificates included. That is for configs that have nothing but a client certificate, which ends at the proxy
	// like every TLS session (envtest's, for one). Requests with an Authorization header keep it. By default all requests
	// are passed on as they are, so that the API server judges the caller and not the proxy.
	UseUpstreamCredentials bool
	// Users names bearer tokens, for Match.User and Request.User.
	Users map[string]string
	// RequestLimit bounds Requests: the newest are remembered. Defaults to DefaultRequestLimit; a negative value is an
	// error. Counts are not affected.
	RequestLimit int
	// Logger gets one line for each injection and lift, and connection errors at V(1). Defaults to none.
	Logger logr.Logger
}

func (o *APIOptions) complete() error {
	if o.RequestLimit < 0 {
		return fmt.Errorf("APIOptions.RequestLimit %d: must not be negative", o.RequestLimit)
	}
	if o.RequestLimit == 0 {
		o.RequestLimit = DefaultRequestLimit
	}
	if o.Via != "" {
		if _, port, err := net.SplitHostPort(o.Via); err != nil || port == "" {
			return fmt.Errorf("APIOptions.Via %q: must be host:port", o.Via)
		}
	}
	if o.Logger.GetSink() == nil {
		o.Logger = logr.Discard()
	}
	return nil
}
