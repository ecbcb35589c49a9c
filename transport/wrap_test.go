// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/transport"
)

func TestWrapRefuses(t *testing.T) {
	plain := func() *rest.Config { return &rest.Config{Host: "https://127.0.0.1:6443"} }
	tests := []struct {
		name string
		cfg  *rest.Config
		opts transport.Options
		want string
	}{
		{
			"nil config", nil, transport.Options{},
			"transport: the *rest.Config is nil, but must be the one that clients are made from",
		},
		{
			"Transport and TLS", &rest.Config{Transport: http.DefaultTransport, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, transport.Options{},
			"transport: rest.Config.Transport and rest.Config.TLSClientConfig are both set, but client-go takes only one of them: put the TLS settings into the Transport, or remove it",
		},
		{
			"negative", plain(), transport.Options{PingTimeout: -time.Second},
			"transport: Options.PingTimeout is -1s, but must be at least 1s (a round trip takes time)",
		},
		{
			"watch bound too short", plain(), transport.Options{MaxWatch: 30*time.Second - 1},
			"transport: Options.MaxWatch is 29.999999999s, but must be at least 30s (renewing watches is not free)",
		},
		{
			"idle timeout too short", plain(), transport.Options{IdleTimeout: 10*time.Second - 1},
			"transport: Options.IdleTimeout is 9.999999999s, but must be at least 10s (bookmarks come about once a minute)",
		},
		{
			"termination log in no directory", plain(), transport.Options{ExitOnUnauthorized: &transport.ExitOptions{TerminationLog: "/nope/x"}},
			`transport: ExitOptions.TerminationLog is "/nope/x", but "/nope" must be a directory that exists`,
		},
		{
			"ping above the watch bound", plain(), transport.Options{MaxWatch: 30 * time.Second, ReadIdleTimeout: 25 * time.Second},
			"transport: Options.ReadIdleTimeout and Options.PingTimeout are 25s and 5s, but must together stay below Options.MaxWatch, 30s (or a dead connection is noticed only when its watches end)",
		},
		{
			"no ping at all", plain(), transport.Options{ReadIdleTimeout: math.MaxInt64},
			"transport: Options.ReadIdleTimeout and Options.PingTimeout are 2562047h47m16.854775807s and 5s, but must together stay below Options.MaxWatch, 3m20s (or a dead connection is noticed only when its watches end)",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var before rest.Config
			if tt.cfg != nil {
				before = *tt.cfg
			}
			_, err := transport.Wrap(tt.cfg, tt.opts)
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if tt.cfg != nil && (tt.cfg.Dial != nil || tt.cfg.WrapTransport != nil || tt.cfg.Host != before.Host) {
				t.Error("the config was changed in spite of the error")
			}
		})
	}
}

func TestWrapRefusesASecondTime(t *testing.T) {
	cfg := &rest.Config{Host: "https://127.0.0.1:6443"}
	if _, err := transport.Wrap(cfg, transport.Options{}); err != nil {
		t.Fatal(err)
	}
	const want = "transport: the rest.Config, or the one it was copied from, is wrapped already: wrap it once, and a fresh one for other settings"
	for name, again := range map[string]*rest.Config{"the same": cfg, "a copy": rest.CopyConfig(cfg)} {
		if _, err := transport.Wrap(again, transport.Options{}); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
}

func TestWrapAcceptsTheLeast(t *testing.T) {
	_, err := transport.Wrap(&rest.Config{}, transport.Options{
		ReadIdleTimeout: time.Second, PingTimeout: time.Second, WriteTimeout: time.Second, MaxWatch: transport.MinMaxWatch,
		Grace: time.Second, HeaderTimeout: time.Second, IdleTimeout: 10 * time.Second, ListTimeout: time.Second,
	})
	if err != nil {
		t.Error(err)
	}
}

func TestIsWrapped(t *testing.T) {
	cfg := &rest.Config{Host: "https://127.0.0.1:6443"}
	before := rest.CopyConfig(cfg)
	if transport.IsWrapped(nil) || transport.IsWrapped(cfg) {
		t.Error("it is wrapped before Wrap")
	}
	if _, err := transport.Wrap(cfg, transport.Options{}); err != nil {
		t.Fatal(err)
	}
	if !transport.IsWrapped(cfg) || !transport.IsWrapped(rest.CopyConfig(cfg)) || transport.IsWrapped(before) {
		t.Error("a wrapped config and its later copies are, an earlier copy is not")
	}
}
