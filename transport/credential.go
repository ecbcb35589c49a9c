// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// credential knows the requests that are made with a config's own credential. It
// reads how client-go 0.37 puts credentials into requests: BearerTokenFile before
// BearerToken, these or Username before an auth provider, and an exec plugin only
// where there is nothing else. It keeps hashes, not tokens, and must not be used
// by two goroutines at once.
type credential struct {
	source credentialSource
	host   string  // with port
	prefix string  // of every path, without the slash at its end
	want   tokenID // of the Authorization header, where it is known

	tokenFile string
	certFile  string
	certData  []byte
	plugin    string // name of the exec plugin's program
}

// credentialSource is where a config's credential comes from.
type credentialSource int

const (
	fromNowhere credentialSource = iota
	fromTokenFile
	fromConfig      // BearerToken
	fromPassword    // Username and Password
	fromCertificate // a client certificate and nothing else
	fromPlugin      // ExecProvider
	fromProvider    // AuthProvider or WrapTransport: any code can add a token
)

// tokenID tells tokens apart without keeping any.
type tokenID [sha256.Size]byte

// owner says whose credential a request carries.
type owner int

const (
	others       owner = iota // or nobody's, or for another host, or a token that the file no longer holds
	ours                      // and in our own name
	impersonated              // ours, in another name
)

// newCredential must see cfg as client-go would have it, before this package
// adds its own WrapTransport.
func newCredential(cfg *rest.Config) (*credential, error) {
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("transport: config.Host is not usable: %w", err)
	}
	c := &credential{host: hostPort(base), prefix: strings.TrimRight(base.Path, "/")}
	switch {
	case cfg.BearerTokenFile != "":
		c.source, c.tokenFile = fromTokenFile, cfg.BearerTokenFile
		c.want = bearer(cfg.BearerToken) // until the file is read, as in client-go
	case cfg.BearerToken != "":
		c.source, c.want = fromConfig, bearer(cfg.BearerToken)
	case cfg.Username != "":
		pair := base64.StdEncoding.EncodeToString([]byte(cfg.Username + ":" + cfg.Password))
		c.source, c.want = fromPassword, identify("Basic "+pair)
	case cfg.AuthProvider != nil:
		c.source = fromProvider
	case (len(cfg.CertData) > 0 || cfg.CertFile != "") && (len(cfg.KeyData) > 0 || cfg.KeyFile != ""):
		c.source, c.certFile, c.certData = fromCertificate, cfg.CertFile, bytes.Clone(cfg.CertData)
	case cfg.ExecProvider != nil:
		c.source, c.plugin = fromPlugin, filepath.Base(cfg.ExecProvider.Command)
	case cfg.WrapTransport != nil:
		c.source = fromProvider
	}
	return c, nil
}

// judge tells whose credential a request carries and, if it is ours, which token.
func (c *credential) judge(req *http.Request) (owner, tokenID) {
	if hostPort(req.URL) != c.host || !strings.HasPrefix(req.URL.Path+"/", c.prefix+"/") {
		return others, tokenID{}
	}
	token, ok := c.recognise(strings.TrimSpace(req.Header.Get("Authorization")))
	switch {
	case !ok:
		return others, tokenID{}
	case req.Header.Get(transport.ImpersonateUserHeader) != "":
		return impersonated, token
	default:
		return ours, token
	}
}

// recognise tells whether an Authorization header, or its absence, is what the
// config's own credential looks like.
func (c *credential) recognise(header string) (tokenID, bool) {
	switch c.source {
	case fromTokenFile:
		// Read each time, because client-go keeps a token for up to a minute after
		// another has been written, whose answers say nothing about the new one.
		c.readTokenFile()
		fallthrough
	case fromConfig, fromPassword:
		id := identify(header)
		return id, id == c.want
	case fromCertificate:
		return tokenID{}, header == ""
	case fromPlugin:
		// client-go asks the plugin again after each 401, which may bring a new token
		// each time. These are one identity, and one row of 401s: hence no tokenID.
		return tokenID{}, true // without a header: a certificate
	case fromProvider:
		return tokenID{}, header != ""
	default:
		return tokenID{}, false
	}
}

// readTokenFile learns the token to expect. What was last read stands where the
// file cannot be read, as in client-go.
func (c *credential) readTokenFile() {
	if content, err := os.ReadFile(c.tokenFile); err == nil && len(bytes.TrimSpace(content)) > 0 {
		c.want = bearer(string(content))
	}
}

// bearer identifies the header that client-go makes of a token.
func bearer(token string) tokenID { return identify("Bearer " + strings.TrimSpace(token)) }

func identify(header string) tokenID { return sha256.Sum256([]byte(header)) }

// hostPort returns where a URL leads to, so that equal places are equal.
func hostPort(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
