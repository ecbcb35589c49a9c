// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Proxies, over TLS or not, are asked for one tunnel, with the password that their URL holds; HTTP/2 and a watch run
// through it.
func TestProxy(t *testing.T) {
	for _, tc := range []struct {
		name    string
		secure  bool
		user    *url.Userinfo
		allowed string
	}{
		{name: "http"},
		{name: "https", secure: true},
		{name: "http with a password", user: url.UserPassword("user", "secret"),
			allowed: "Basic " + base64.StdEncoding.EncodeToString([]byte("user:secret"))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			parity(t, func(t *testing.T, f flavour) {
				objects := newConfigMaps("a")
				srv := startServer(t, serverOptions{handler: objects.serve})
				var ca *authority
				if tc.secure {
					ca = srv.ca // a client has one bundle for both
				}
				p := startProxy(t, listen(t), ca, (&net.Dialer{}).DialContext)
				address := *p.url
				address.User = tc.user
				cfg := srv.config()
				cfg.Proxy = http.ProxyURL(&address)
				f.apply(t, cfg)
				informer := startInformer(t, cfg)
				eventually(t, "the first object", func() bool { return holds(informer, "a") })
				objects.create("b")
				eventually(t, "an event", func() bool { return holds(informer, "b") })
				want := []tunnel{{strings.TrimPrefix(srv.url, "https://"), tc.allowed}}
				if diff := cmp.Diff(want, p.asked()); diff != "" {
					t.Errorf("tunnels (-want +got):\n%s", diff)
				}
				if got := srv.last(t).Proto; got != "HTTP/2.0" {
					t.Errorf("the server was spoken to in %s, want HTTP/2.0", got)
				}
			})
		})
	}
}

// A proxy that fails is an error of the request.
func TestProxyThatFails(t *testing.T) {
	parity(t, func(t *testing.T, f flavour) {
		srv := startServer(t, serverOptions{})
		p := startProxy(t, listen(t), nil, (&net.Dialer{}).DialContext)
		cfg := srv.config()
		cfg.Proxy = http.ProxyURL(p.url)
		client := f.client(t, cfg)
		srv.close()
		if _, _, err := try(t, client, srv.url); err == nil || !strings.Contains(err.Error(), "Bad Gateway") {
			t.Errorf("a tunnel to a closed server ended in %v, want the proxy's Bad Gateway", err)
		}
	})
}
