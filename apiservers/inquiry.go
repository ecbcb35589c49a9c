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
	cancel context.CancelFunc
	ctx    context.Context
	begun  time.Time
}

// inquire begins an inquiry, which is to be ended. It sends nothing.
func inquire(ctx context.Context, cfg *rest.Config) (*inquiry, error) {
	i := &inquiry{begun: time.Now()}
	i.ctx, i.cancel = context.WithCancel(ctx)
	i.dialer = newDialer(i.ctx, cfg.Dial)
	own, err := i.own(cfg)
	if err == nil {
		i.client, err = newClient(own)
	}
	if err != nil {
		i.end()
		return nil, err
	}
	return i, nil
}

func newClient(cfg *rest.Config) (*rest.RESTClient, error) {
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, err
	}
	return rest.UnversionedRESTClientForConfigAndClient(cfg, client)
}

// own returns a copy of cfg whose client shares nothing with others.
func (i *inquiry) own(cfg *rest.Config) (*rest.Config, error) {
	own := rest.CopyConfig(cfg)
	// Files are read for each inquiry, so that it has what they hold now. client-go
	// would notice that they change by a goroutine that outlasts the inquiry.
	if err := rest.LoadTLSFiles(own); err != nil {
		return nil, err
	}
	own.CAFile, own.CertFile, own.KeyFile = "", "", ""
	own.Dial = i.dialer.DialContext
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

// end closes the connection and gives up whatever is under way on it.
func (i *inquiry) end() {
	i.cancel()
	i.dialer.close()
}

// read sends one request and reads its answer, JSON, into out. It never sends a
// second: client-go would repeat one that is answered with Retry-After ten times.
func (i *inquiry) read(path string, query url.Values, accept string, out any) error {
	request := i.client.Get().AbsPath(path).MaxRetries(0).SetHeader("Accept", accept)
	for name, values := range query {
		for _, value := range values {
			request.Param(name, value)
		}
	}
	result := request.Do(i.ctx)
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
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err // the rest is a long URL
	}
	var name x509.HostnameError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %v: %w", time.Since(i.begun).Round(100*time.Millisecond), err)
	case errors.As(err, &name):
		return fmt.Errorf("%w (set rest.Config.ServerName to a name that the certificate of every API server is valid for)", err)
	default:
		return err
	}
}
