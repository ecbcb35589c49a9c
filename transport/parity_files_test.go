// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"crypto/tls"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/transport"
)

// A new client certificate on disk closes the connections that were made with the old one, and the watches that ran on
// them go on, on new connections, from where they were.
func TestClientCertificateFilesAreReread(t *testing.T) {
	ca := newAuthority(t, "authority")
	file := newCredentialFile(t, "client.pem") // stays until client-go's goroutines that read it have ended
	parity(t, func(t *testing.T, f flavour) {
		cert, key := ca.issue(t, "before")
		file.replace(t, cert, key)
		objects := newConfigMaps()
		srv := startServer(t, serverOptions{ca: ca, clients: ca, handler: objects.serve})
		cfg := srv.config()
		cfg.CertFile, cfg.KeyFile = string(file), string(file)
		f.apply(t, cfg)
		informer := startInformer(t, cfg)
		eventually(t, "the informer's first sync", informer.HasSynced)
		// Without an event, a watch that ends within a second is one that a reflector does not resume.
		objects.create("a")
		eventually(t, "an object", func() bool { return holds(informer, "a") })
		if got := srv.last(t).CommonName; got != "before" {
			t.Fatalf("the client is %q, want before", got)
		}

		cert, key = ca.issue(t, "after")
		file.replace(t, cert, key)
		eventually(t, "a request with the new certificate", func() bool { return srv.last(t).CommonName == "after" })
		objects.create("b")
		eventually(t, "an object on the new connection", func() bool { return holds(informer, "b") })
		if diff := cmp.Diff([]string{"initial events", "watch from 101"}, objects.asked()); diff != "" {
			t.Errorf("the watch was not resumed (-want +got):\n%s", diff)
		}
		if got := srv.connections(); got != 2 {
			t.Errorf("%d connections, want one for each certificate", got)
		}
	})
	collected(t, "dynamicClientCert")
}

// A CA bundle is read again after 5 minutes, for new connections.
func TestCAFileIsReread(t *testing.T) {
	parityInBubble(t, func(t *testing.T, f flavour) {
		network := newMemoryNetwork()
		before, after := newAuthority(t, "before"), newAuthority(t, "after")
		srv := startServer(t, serverOptions{listener: network.listen("api.test:443"), ca: before})
		file := newCredentialFile(t, "ca.pem", before.pem)
		client := f.client(t, &rest.Config{
			Host: srv.url, Dial: network.dial, TLSClientConfig: rest.TLSClientConfig{CAFile: string(file)},
		})
		get(t, client, srv.url)

		srv.close()
		synctest.Wait() // until the client knows
		file.replace(t, after.pem)
		startServer(t, serverOptions{listener: network.listen("api.test:443"), ca: after})
		var untrusted *tls.CertificateVerificationError
		if _, _, err := try(t, client, srv.url); !errors.As(err, &untrusted) {
			t.Errorf("a server of the new authority got %v, want it untrusted until the bundle is read again", err)
		}
		pass(5 * time.Minute)
		if _, body := get(t, client, srv.url); body != "ok" {
			t.Errorf("the server of the new authority answered %q", body)
		}
	})
}

// client-go makes a clone of its transport when the CA bundle has changed. Connections of the clone have the same PING
// settings and belong to what Recycle closes.
func TestReloadedCAKeepsPingsAndRecycle(t *testing.T) {
	const readIdle = 7 * time.Second
	synctest.Test(t, func(t *testing.T) {
		network := newMemoryNetwork()
		before, after := newAuthority(t, "before"), newAuthority(t, "after")
		srv := startFrameServer(t, network.listen("api.test:443"), before)
		file := newCredentialFile(t, "ca.pem", before.pem)
		cfg := &rest.Config{
			Host: srv.url, Dial: network.dial, TLSClientConfig: rest.TLSClientConfig{CAFile: string(file)},
		}
		tr := wrap(t, cfg, transport.Options{ReadIdleTimeout: readIdle})
		client := clientFor(t, cfg)
		pinged := func(srv *frameServer) []time.Duration {
			begin := time.Now()
			open(t, client, srv.url+logPath)
			pass(30 * time.Second)
			return srv.pinged(begin)
		}
		want := []time.Duration{readIdle, 2 * readIdle, 3 * readIdle, 4 * readIdle}
		if got := pinged(srv); !slices.Equal(got, want) {
			t.Fatalf("PINGs after %v, want %v", got, want)
		}

		srv.close()
		file.replace(t, after.pem)
		srv = startFrameServer(t, network.listen("api.test:443"), after)
		pass(5 * time.Minute)
		if got := pinged(srv); !slices.Equal(got, want) {
			t.Errorf("with the new bundle PINGs after %v, want %v", got, want)
		}
		if got := tr.Recycle(); got != 1 {
			t.Errorf("%d connections recycled, want the one of the new bundle", got)
		}
		synctest.Wait()
		if got := srv.ended(time.Now()); len(got) != 1 {
			t.Errorf("%d connections have ended on the server, want 1", len(got))
		}
	})
}

// A token file is read again after a minute, less the 10 s by which client-go is early.
func TestTokenFileIsReread(t *testing.T) {
	for _, tc := range []struct {
		name  string
		token string // beside the file, as rest.InClusterConfig has it
	}{
		{name: "file alone"},
		{name: "file and token", token: "first"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			parityInBubble(t, func(t *testing.T, f flavour) {
				network := newMemoryNetwork()
				srv := startServer(t, serverOptions{listener: network.listen("api.test:443")})
				file := newCredentialFile(t, "token", []byte("first"))
				cfg := srv.config()
				cfg.Dial, cfg.BearerToken, cfg.BearerTokenFile = network.dial, tc.token, string(file)
				client := f.client(t, cfg)
				sent := func() string {
					get(t, client, srv.url)
					return srv.last(t).Header.Get("Authorization")
				}
				got := []string{sent()}
				file.replace(t, []byte("second\n"))
				for range 2 {
					pass(49 * time.Second)
					got = append(got, sent())
				}
				if diff := cmp.Diff([]string{"Bearer first", "Bearer first", "Bearer second"}, got); diff != "" {
					t.Errorf("tokens after 0, 49 and 98 s (-want +got):\n%s", diff)
				}
			})
		})
	}
}
