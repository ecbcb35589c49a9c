// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"k8s.io/client-go/rest"
)

// At returns a copy of cfg for the API server at address, a host:port of its own:
// with the same credentials, and without the proxy, if any, on the way to the
// usual address.
//
// The server's certificate is verified as before: by cfg's authority, and for
// cfg.ServerName, or else the host that cfg calls the cluster by. An API server
// behind a load balancer has that name or address in its certificate, as it has
// the address of the Service and kubernetes.default.svc. Where it has not, because
// something on the way ends TLS, set ServerName in a copy of the config.
//
// The error says what in cfg or address is not valid.
func At(cfg *rest.Config, address string) (*rest.Config, error) {
	usual, err := usualURL(cfg)
	if err != nil {
		return nil, err
	}
	if err := checkAddress(address); err != nil {
		return nil, fmt.Errorf("apiservers: address %w", err)
	}
	direct := rest.CopyConfig(cfg)
	direct.Host = "https://" + address
	direct.Proxy = noProxy
	if direct.ServerName == "" {
		direct.ServerName = usual.Hostname()
	}
	return direct, nil
}

// usualURL is where cfg leads to. The error says why no other address can take its
// place.
func usualURL(cfg *rest.Config) (*url.URL, error) {
	if cfg == nil {
		return nil, errors.New("apiservers: the rest.Config is nil")
	}
	if cfg.Transport != nil {
		return nil, errors.New("apiservers: rest.Config.Transport is set, but only its owner knows to whom it connects")
	}
	usual, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("apiservers: rest.Config.Host is %q: %w", cfg.Host, err)
	}
	if usual.Scheme != "https" {
		return nil, fmt.Errorf("apiservers: rest.Config.Host is %q, but must be reached by TLS (nothing else says that a server is one)", cfg.Host)
	}
	return usual, nil
}

func noProxy(*http.Request) (*url.URL, error) { return nil, nil }
