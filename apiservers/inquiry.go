// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	"k8s.io/client-go/rest"
)

// inquiry is a few reads of one API server, over a connection that nobody else
// uses and that ends with it.
type inquiry struct {
	client *rest.RESTClient
	dialer *dialer
	begun  time.Time
}

// inquire begins an inquiry, which is to be ended. It sends nothing.
func inquire(cfg *rest.Config) (*inquiry, error) {
	dialer := newDialer(cfg.Dial)
	cfg, err := alone(cfg, dialer)
	if err != nil {
		return nil, err
	}
	client, err := rest.UnversionedRESTClientFor(cfg)
	if err != nil {
		return nil, err
	}
	return &inquiry{client: client, dialer: dialer, begun: time.Now()}, nil
}

// end closes the connection and gives up whatever is under way on it.
func (i *inquiry) end() { i.dialer.end() }

// alone returns a copy of cfg whose client shares nothing with others.
func alone(cfg *rest.Config, dialer *dialer) (*rest.Config, error) {
	own := rest.CopyConfig(cfg)
	// Files are read for each inquiry, so that it has what they hold now. Left to
	// client-go, two goroutines would wait for them to change long after its end.
	if err := rest.LoadTLSFiles(own); err != nil {
		return nil, err
	}
	own.Dial = dialer.DialContext
	if own.Proxy == nil {
		// What it means to client-go, which keeps transports with a Proxy out of its
		// cache: each Dial would be one more entry there (0.37, transport/cache.go).
		own.Proxy = http.ProxyFromEnvironment
	}
	own.Timeout = 0                    // that is the context's
	own.QPS, own.RateLimiter = -1, nil // the server is asked, not the limiter
	own.WarningHandler, own.WarningHandlerWithContext = rest.NoWarnings{}, nil
	own.NegotiatedSerializer = internalscheme.Codecs.WithoutConversion() // for a Status
	return own, nil
}

// read sends one request and reads its answer, JSON, into out. It never sends a
// second: client-go would repeat one that is answered with Retry-After ten times.
func (i *inquiry) read(ctx context.Context, path string, query url.Values, accept string, out any) error {
	request := i.client.Get().AbsPath(path).MaxRetries(0).SetHeader("Accept", accept)
	for name, values := range query {
		for _, value := range values {
			request.Param(name, value)
		}
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil { // with the server's own words, which Raw does not have
		return i.explain(err)
	}
	body, err := result.Raw()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return nil
}

// explain makes of net/http's errors what a person can act on.
func (i *inquiry) explain(err error) error {
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err // the rest is a long URL
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %v: %w", time.Since(i.begun).Round(100*time.Millisecond), err)
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Errorf("%w (set rest.Config.ServerName to a name that the certificate of every API server is valid for)", err)
	}
	return err
}
