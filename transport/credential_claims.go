// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// causeOf describes the end of a row of 401s, the last of them to a request with
// the given Authorization header. Nothing of the header is kept.
func (c *credential) causeOf(r *refusals, header string) Unauthorized {
	u := Unauthorized{
		Since: r.first, Until: r.last, Responses: r.responses, FreshConnections: r.fresh,
		source: c.source, plugin: c.plugin,
	}
	if token, ok := strings.CutPrefix(strings.TrimSpace(header), "Bearer "); ok {
		u.Subject, u.Expires = readClaims(token)
	} else if c.source == fromCertificate {
		u.Subject, u.Expires = c.readCertificate()
	}
	return u
}

// readClaims returns what a token says of itself, which proves nothing, if it is
// a JSON Web Token.
func readClaims(token string) (subject string, expires time.Time) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", time.Time{}
	}
	var claims struct {
		Subject string  `json:"sub"`
		Expires float64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return "", time.Time{}
	}
	const year9999 = 253402300799 // the last that can be printed
	if claims.Expires > 0 && claims.Expires <= year9999 {
		expires = time.Unix(int64(claims.Expires), 0)
	}
	return printable(claims.Subject), expires
}

// readCertificate returns whose the client certificate is and when it expires.
func (c *credential) readCertificate() (subject string, expires time.Time) {
	data := c.certData
	if len(data) == 0 {
		var err error
		if data, err = os.ReadFile(c.certFile); err != nil {
			return "", time.Time{}
		}
	}
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			break
		}
		return printable(cert.Subject.CommonName), cert.NotAfter
	}
	return "", time.Time{}
}

// printable returns a name that may go into a log, or nothing: nobody has
// verified it.
func printable(name string) string {
	const longest = 512 // "system:serviceaccount:", a namespace and a name have 339 at most
	if len(name) > longest || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return name
}
