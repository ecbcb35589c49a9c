// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte // of the certificate
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	key := newKey(t)
	template := certificateTemplate(name)
	template.IsCA = true
	template.KeyUsage |= x509.KeyUsageCertSign
	cert := sign(t, template, template, key, key)
	return &authority{cert: cert, key: key, pem: encode("CERTIFICATE", cert.Raw)}
}

// pool returns the authority as what a server or a client trusts.
func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// issue returns a certificate for servers of that name or IP address, and for clients of that name, in PEM.
func (a *authority) issue(t *testing.T, name string) (cert, key []byte) {
	t.Helper()
	template := certificateTemplate(name)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	private := newKey(t)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return encode("CERTIFICATE", sign(t, template, a.cert, private, a.key).Raw), encode("PRIVATE KEY", der)
}

// serverCertificate is issue for a server.
func (a *authority) serverCertificate(t *testing.T, name string) tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(a.issue(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// certificateTemplate is valid for so long that the clock of a bubble, which begins in the year 2000, is covered too.
func certificateTemplate(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber:          big.NewInt(time.Now().UnixNano()),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(2190, 1, 1, 0, 0, 0, 0, time.UTC),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t *testing.T, template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// credentialFile is a file that is replaced at once, as the kubelet and cert-manager do: a client never reads half of
// it.
type credentialFile string

func newCredentialFile(t *testing.T, name string, parts ...[]byte) credentialFile {
	t.Helper()
	f := credentialFile(filepath.Join(t.TempDir(), name))
	f.replace(t, parts...)
	return f
}

func (f credentialFile) replace(t *testing.T, parts ...[]byte) {
	t.Helper()
	next := string(f) + ".next"
	if err := os.WriteFile(next, bytes.Join(parts, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, string(f)); err != nil {
		t.Fatal(err)
	}
}
