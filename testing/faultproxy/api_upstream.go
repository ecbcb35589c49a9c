// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// roundTripFunc is a function that is an http.RoundTripper.
type roundTripFunc func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// connectTo makes the transports towards the API server.
func (p *API) connectTo(upstream *rest.Config) error {
	bare, err := rest.TLSConfigFor(rest.AnonymousClientConfig(upstream))
	if err != nil {
		return fmt.Errorf("upstream TLS: %w", err)
	}
	p.forward = p.newTransport(bare)
	if !p.opts.UseUpstreamCredentials {
		return nil
	}
	full, err := rest.TLSConfigFor(upstream)
	if err != nil {
		return fmt.Errorf("upstream TLS: %w", err)
	}
	if p.sign, err = rest.HTTPWrappersForConfig(upstream, p.newTransport(full)); err != nil {
		return fmt.Errorf("upstream credentials: %w", err)
	}
	return nil
}

// newTransport makes a transport that multiplexes everything over one HTTP/2 connection where the server lets it, and that
// never gives up by itself: no PING, no deadline, no proxy from the environment. It stands for the many proxies that do not
// notice a dead backend.
func (p *API) newTransport(conf *tls.Config) *http.Transport {
	t := &http.Transport{TLSClientConfig: conf, ForceAttemptHTTP2: true, DisableCompression: true, MaxIdleConnsPerHost: 64}
	if p.opts.Via != "" {
		t.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, p.opts.Via)
		}
	}
	p.idle = append(p.idle, t)
	return t
}

// rewrite prepares a request for the API server. Compressed bodies and CBOR cannot be read on the way, so that neither is
// asked for; both are optional in the protocol.
func (p *API) rewrite(r *httputil.ProxyRequest) {
	r.SetURL(p.upstream)
	r.Out.Header.Del("Accept-Encoding")
	if ex := exchangeFrom(r.Out.Context()); ex != nil && ex.stripTimeout.Load() {
		q := r.Out.URL.Query()
		q.Del("timeoutSeconds")
		r.Out.URL.RawQuery = q.Encode()
	}
	if accept := r.Out.Header.Get("Accept"); strings.Contains(accept, "cbor") {
		r.Out.Header.Set("Accept", withoutCBOR(accept))
	}
}

func withoutCBOR(accept string) string {
	var kept []string
	for media := range strings.SplitSeq(accept, ",") {
		if !strings.Contains(media, "cbor") {
			kept = append(kept, media)
		}
	}
	if len(kept) == 0 {
		return "application/json"
	}
	return strings.Join(kept, ",")
}

// send passes a request on.
func (p *API) send(r *http.Request) (*http.Response, error) {
	if p.sign != nil && r.Header.Get("Authorization") == "" {
		return p.sign.RoundTrip(r)
	}
	return p.forward.RoundTrip(r)
}

// fail answers a request for which there is no response: 502 where the API server cannot be reached, as proxies do.
func (p *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody listens any more
	}
	p.opts.Logger.V(1).Info("No answer from upstream", "method", r.Method, "path", r.URL.Path, "error", err.Error())
	if ex := exchangeFrom(r.Context()); ex != nil {
		ex.status.Store(http.StatusBadGateway)
	}
	body := encodeStatus(newStatus(http.StatusBadGateway, metav1.StatusReasonUnknown, "faultproxy: upstream: "+err.Error(), 0))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadGateway)
	_, _ = w.Write(body)
}
