// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"crypto/tls"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// frontDoor is an API server with an aggregated API behind it that refuses
// everybody.
type frontDoor struct {
	*httptest.Server
	accepts bool         // what it says itself
	asked   atomic.Int32 // how often
	wrong   atomic.Value // what was wrong with a request, as text
}

func openFrontDoor(t *testing.T, accepts, http2 bool) *frontDoor {
	t.Helper()
	d := &frontDoor{accepts: accepts}
	d.Server = httptest.NewUnstartedServer(d)
	d.EnableHTTP2 = http2
	d.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	d.StartTLS()
	t.Cleanup(d.Close)
	return d
}

func (d *frontDoor) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if len(req.TLS.PeerCertificates) == 0 && req.Header.Get("Authorization") != "Bearer mine" {
		d.wrong.Store(req.Method + " " + req.URL.Path + " came without a credential")
	}
	switch {
	case req.URL.Path != "/api":
		w.WriteHeader(http.StatusUnauthorized)
		return
	case !d.accepts:
		w.WriteHeader(http.StatusUnauthorized)
	default:
		_, _ = w.Write([]byte(`{"kind":"APIVersions","versions":["v1"]}`))
	}
	d.asked.Add(1)
}

// TestConfirmationOnTheWire sends everything through client-go and TLS, so that
// the question goes with whatever credential the requests go with.
func TestConfirmationOnTheWire(t *testing.T) {
	cert, key := certificate(t, "jane", time.Now().Add(time.Hour))
	credentials := map[string]func(*rest.Config){
		"token":       func(c *rest.Config) { c.BearerToken = "mine" },
		"certificate": func(c *rest.Config) { c.CertData, c.KeyData = cert, key },
	}
	for name, with := range credentials {
		for protocol, http2 := range map[string]bool{"HTTP 1.1": false, "HTTP 2": true} {
			for verdict, accepts := range map[string]bool{"refused": false, "accepted": true} {
				t.Run(name+", "+protocol+", "+verdict, func(t *testing.T) {
					d := openFrontDoor(t, accepts, http2)
					cfg := &rest.Config{Host: d.URL}
					cfg.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: d.Certificate().Raw})
					with(cfg)
					d.rehearse(t, cfg)
				})
			}
		}
	}
}

// rehearse sends requests until the credential is due, by a clock of its own.
func (d *frontDoor) rehearse(t *testing.T, cfg *rest.Config) {
	t.Helper()
	var exits atomic.Int32
	clk := clocktesting.NewFakeClock(dawn)
	tr, err := Wrap(cfg, Options{Clock: clk, ExitOnUnauthorized: &ExitOptions{
		TerminationLog: filepath.Join(t.TempDir(), "termination-log"),
		Exit:           func(int) { exits.Add(1) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	const pause = 5 * time.Second
	for range DefaultExitAfter / pause {
		d.knock(t, client)
		clk.Step(pause)
	}
	if d.asked.Load() != 0 {
		t.Fatal("the API server was asked before its time")
	}
	d.knock(t, client)
	if d.accepts {
		freshtest.Eventually(t, func() bool { return !tr.unauthorized.suspects() }, "the 401s still count")
	} else {
		freshtest.Eventually(t, func() bool { return exits.Load() == 1 }, "no exit")
	}
	if got := tr.unauthorized.snapshot(); d.accepts && got.exits != 0 || d.asked.Load() != 1 {
		t.Errorf("%d exits after %d questions", got.exits, d.asked.Load())
	}
	if wrong := d.wrong.Load(); wrong != nil {
		t.Error(wrong)
	}
}

// knock has the aggregated API refuse a request.
func (d *frontDoor) knock(t *testing.T, client *http.Client) {
	t.Helper()
	resp, err := client.Get(d.URL + "/apis/metrics.k8s.io/v1beta1/pods")
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusUnauthorized {
		t.Fatalf("answered with %s", resp.Status)
	}
}
