// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certLifetime is longer than any test and starts an hour ago, for machines whose clocks disagree with themselves.
const certLifetime = 365 * 24 * time.Hour

// pki is what the control plane's TLS and tokens rest on: files in one directory.
type pki struct {
	caPEM                []byte
	caFile               string
	certFile, keyFile    string // serving certificate of every component
	saKeyFile, saPubFile string // ServiceAccount token signing
}

// newPKI makes a CA, a serving certificate for the loopback address, and a ServiceAccount key pair, and writes them into dir. The CA's
// private key is forgotten: nothing else will ever be signed.
func newPKI(dir string) (*pki, error) {
	p := &pki{
		caFile:    filepath.Join(dir, "ca.crt"),
		certFile:  filepath.Join(dir, "serving.crt"),
		keyFile:   filepath.Join(dir, "serving.key"),
		saKeyFile: filepath.Join(dir, "service-account.key"),
		saPubFile: filepath.Join(dir, "service-account.pub"),
	}
	if err := p.writeServing(); err != nil {
		return nil, err
	}
	return p, p.writeServiceAccountKeys()
}

func (p *pki) writeServing() error {
	caKey, err := newKey()
	if err != nil {
		return err
	}
	ca := certificate("freshwatch-controlplane-ca", 1)
	ca.IsCA, ca.BasicConstraintsValid, ca.KeyUsage = true, true, x509.KeyUsageCertSign
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return err
	}

	key, err := newKey()
	if err != nil {
		return err
	}
	serving := certificate("kube-apiserver", 2)
	serving.KeyUsage, serving.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	serving.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	serving.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	servingDER, err := x509.CreateCertificate(rand.Reader, serving, ca, key.Public(), caKey)
	if err != nil {
		return err
	}

	p.caPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})
	if err := os.WriteFile(p.caFile, p.caPEM, 0o600); err != nil {
		return err
	}
	if err := writePEM(p.certFile, "CERTIFICATE", servingDER); err != nil {
		return err
	}
	return writePrivateKey(p.keyFile, key)
}

func (p *pki) writeServiceAccountKeys() error {
	key, err := newKey()
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := writePEM(p.saPubFile, "PUBLIC KEY", public); err != nil {
		return err
	}
	return writePrivateKey(p.saKeyFile, key)
}

func newKey() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func certificate(name string, serial int64) *x509.Certificate {
	start := time.Now().Add(-time.Hour)
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    start,
		NotAfter:     start.Add(certLifetime),
	}
}

func writePrivateKey(path string, key crypto.Signer) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
