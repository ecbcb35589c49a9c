// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/apiservers"
)

// authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	a := authority{t: t, key: newKey(t)}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.pem, _ = a.sign(a.cert, a.key)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign returns a certificate and its key, in PEM.
func (a authority) sign(template *x509.Certificate, key *ecdsa.PrivateKey) (certPEM, keyPEM []byte) {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
}

// issue returns a certificate for a user, or for a server with these names and addresses.
func (a authority) issue(user string, names ...string) (certPEM, keyPEM []byte) {
	a.t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: user}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	return a.sign(template, newKey(a.t))
}

// serve answers every request with an empty list whose resourceVersion is the user, by
// certificate or by token.
func (a authority) serve(names ...string) (address string) {
	a.t.Helper()
	certPEM, keyPEM := a.issue("kube-apiserver", names...)
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		a.t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if len(r.TLS.PeerCertificates) > 0 {
			user = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"metadata":{"resourceVersion":"`+user+`"},"items":[]}`)
	}))
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequestClientCert}
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	a.t.Cleanup(srv.Close)
	return srv.Listener.Addr().String()
}

// TestCertificateIsVerified uses a server at an address that its certificate does not
// name, as with those that an EndpointSlice names. That has to be for the cluster's name.
func TestCertificateIsVerified(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	var unknown x509.UnknownAuthorityError
	var wrongName x509.HostnameError
	for _, test := range []struct {
		name, host, serverName string
		signed                 authority
		valid                  []string
		want                   any // error, or nil
	}{
		{name: "for the cluster's name", host: "https://cluster.example.com:6443", signed: ours, valid: []string{"kubernetes", "cluster.example.com"}},
		{name: "for the Service's address", host: "https://10.96.0.1:443", signed: ours, valid: []string{"10.96.0.1"}},
		{name: "for the config's ServerName", host: "https://10.96.0.1", serverName: "kubernetes.default.svc", signed: ours, valid: []string{"kubernetes.default.svc"}},
		{name: "for another name", host: "https://cluster.example.com", signed: ours, valid: []string{"elsewhere.example.com"}, want: &wrongName},
		{name: "for its own address only", host: "https://cluster.example.com", signed: ours, valid: []string{"127.0.0.1"}, want: &wrongName},
		{name: "by another authority", host: "https://cluster.example.com", signed: theirs, valid: []string{"cluster.example.com"}, want: &unknown},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := &rest.Config{Host: test.host, BearerToken: "me"}
			cfg.CAData, cfg.ServerName = ours.pem, test.serverName
			got := ask(t, newServers(t, cfg, apiservers.Options{Addresses: []string{test.signed.serve(test.valid...)}}))[0]
			switch {
			case test.want == nil && (got.Err != nil || got.ResourceVersion != "me"):
				t.Errorf("got %+v, want an answer", got)
			case test.want != nil && !errors.As(got.Err, test.want):
				t.Errorf("got %+v, want a %T", got, test.want)
			case test.want == &wrongName && !strings.Contains(got.Err.Error(), "set rest.Config.ServerName"):
				t.Errorf("%q does not say what to do", got.Err)
			}
		})
	}
}

// TestFilesAreReadEachTime replaces a token, a client certificate and the authority
// between two questions.
func TestFilesAreReadEachTime(t *testing.T) {
	before, after := newAuthority(t), newAuthority(t)
	addresses := []string{before.serve("cluster.example.com"), after.serve("cluster.example.com")}
	file := func(name string) string { return filepath.Join(t.TempDir(), name) }
	write := func(path string, content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	answers := func(s *apiservers.Servers) (text string) {
		for _, c := range ask(t, s) {
			if c.Err == nil {
				text += c.ResourceVersion
			}
			text += ";"
		}
		return text
	}

	t.Run("client certificate", func(t *testing.T) {
		cfg := &rest.Config{Host: "https://cluster.example.com"}
		cfg.CAFile, cfg.CertFile, cfg.KeyFile = file("ca.crt"), file("tls.crt"), file("tls.key")
		s := newServers(t, cfg, apiservers.Options{Addresses: addresses})
		for _, round := range []struct {
			authority  authority
			user, want string
		}{{before, "old", "old;;"}, {after, "new", ";new;"}} {
			certPEM, keyPEM := round.authority.issue(round.user)
			write(cfg.CAFile, round.authority.pem)
			write(cfg.CertFile, certPEM)
			write(cfg.KeyFile, keyPEM)
			if got := answers(s); got != round.want {
				t.Errorf("answers %q, want %q", got, round.want)
			}
			// goleak gives it time until it is collected as garbage.
			if stacks := make([]byte, 1<<20); strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "dynamicClientCert") {
				t.Error("client-go has goroutines that wait for the files to change")
			}
		}
		if err := os.Remove(cfg.KeyFile); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, s); !errors.Is(got[0].Err, os.ErrNotExist) {
			t.Errorf("without the file: %v", got[0].Err)
		}
	})
	t.Run("token", func(t *testing.T) {
		cfg := &rest.Config{Host: "https://cluster.example.com", BearerTokenFile: file("token")}
		cfg.CAData = before.pem
		s := newServers(t, cfg, apiservers.Options{Addresses: addresses})
		for _, token := range []string{"old", "new"} {
			write(cfg.BearerTokenFile, []byte(token))
			if got := answers(s); got != token+";;" {
				t.Errorf("answers %q, want %q", got, token+";;")
			}
		}
	})
}
