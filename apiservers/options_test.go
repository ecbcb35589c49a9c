// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/apiservers"
)

func TestNewRefuses(t *testing.T) {
	config := func(change func(*rest.Config)) *rest.Config {
		cfg := &rest.Config{Host: "https://cluster.example.com"}
		change(cfg)
		return cfg
	}
	good := config(func(*rest.Config) {})
	for _, test := range []struct {
		name string
		cfg  *rest.Config
		opts apiservers.Options
		want string
	}{
		{"no config", nil, apiservers.Options{}, "rest.Config is nil"},
		{"a transport of somebody's own", config(func(c *rest.Config) { c.Transport = http.DefaultTransport }), apiservers.Options{}, "rest.Config.Transport is set"},
		{"no TLS", config(func(c *rest.Config) { c.Host = "http://127.0.0.1:8001" }), apiservers.Options{}, `Host is "http://127.0.0.1:8001", but must be reached by TLS`},
		{"no URL", config(func(c *rest.Config) { c.Host = "https://a b" }), apiservers.Options{}, `Host is "https://a b"`},
		{"no verification", config(func(c *rest.Config) { c.Insecure = true }), apiservers.Options{}, "Insecure is true, but must be false"},
		{"Refresh", good, apiservers.Options{Refresh: time.Second - 1}, "Options.Refresh is 999.999999ms, but must be at least 1s"},
		{"negative Refresh", good, apiservers.Options{Refresh: -1}, "Options.Refresh is -1ns"},
		{"Timeout", good, apiservers.Options{Timeout: 4*time.Second - 1}, "Options.Timeout is 3.999999999s, but must be at least 4s"},
		{"an address without a port", good, apiservers.Options{Addresses: []string{one, "10.0.0.2"}}, `Options.Addresses: "10.0.0.2" must be host:port`},
		{"an address without a host", good, apiservers.Options{Addresses: []string{":6443"}}, `Options.Addresses: ":6443"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := apiservers.New(test.cfg, test.opts); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
	if _, err := apiservers.New(good, apiservers.Options{Refresh: time.Second, Timeout: 4 * time.Second, Addresses: []string{"[::1]:6443"}}); err != nil {
		t.Errorf("the least that is allowed: %v", err)
	}
}

func TestAt(t *testing.T) {
	for _, test := range []struct{ name, host, serverName, want string }{
		{"in a Pod", "https://10.96.0.1:443", "", "10.96.0.1"},
		{"by name, with a path", "https://cluster.example.com/k8s/c1", "", "cluster.example.com"},
		{"over IPv6", "https://[fd00::1]:443", "", "fd00::1"},
		{"a name that is given", "https://cluster.example.com", "kubernetes.default.svc", "kubernetes.default.svc"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := &rest.Config{Host: test.host, BearerToken: "token", Proxy: http.ProxyFromEnvironment}
			cfg.ServerName, cfg.CAData = test.serverName, []byte("ca")
			got, err := apiservers.At(cfg, one)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"https://" + one, test.want, "token", "ca"}, []string{got.Host, got.ServerName, got.BearerToken, string(got.CAData)}); diff != "" {
				t.Errorf("config (-want +got):\n%s", diff)
			}
			if through, err := got.Proxy(nil); through != nil || err != nil {
				t.Errorf("goes through %v, %v", through, err)
			}
			if cfg.Host != test.host || cfg.ServerName != test.serverName {
				t.Errorf("changed what it was given: %v", cfg)
			}
		})
	}
	for _, address := range []string{"10.0.0.1", "", "https://10.0.0.1:6443"} {
		if _, err := apiservers.At(&rest.Config{Host: "https://cluster.example.com"}, address); err == nil {
			t.Errorf("%q was taken for an address", address)
		}
	}
}
