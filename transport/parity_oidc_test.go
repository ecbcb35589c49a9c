// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "k8s.io/client-go/plugin/pkg/client/auth/oidc" // registers the provider
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// persisted is what an authentication provider has asked to write to the kubeconfig.
type persisted struct {
	mu     sync.Mutex
	tokens []string
}

func (p *persisted) Persist(config map[string]string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens = append(p.tokens, config["id-token"])
	return nil
}

// identityToken is one of OpenID Connect that expires then. Nobody here looks at its signature.
func identityToken(expires time.Time) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none"}`)) + "." + encode(fmt.Appendf(nil, `{"exp":%d}`, expires.Unix())) + ".x"
}

// An OpenID Connect token that has expired is refreshed with the issuer, written to the kubeconfig, and used.
func TestOIDC(t *testing.T) {
	parity(t, func(t *testing.T, f flavour) {
		fresh := identityToken(time.Now().Add(time.Hour))
		issuer := startServer(t, serverOptions{handler: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.URL.Path == "/.well-known/openid-configuration" {
				fmt.Fprintf(w, `{"token_endpoint":%q}`, "https://"+r.Host+"/token")
				return
			}
			fmt.Fprintf(w, `{"access_token":"a","token_type":"Bearer","id_token":%q}`, fresh)
		}})
		srv := startServer(t, serverOptions{})
		var kubeconfig persisted
		cfg := srv.config()
		cfg.AuthConfigPersister = &kubeconfig
		cfg.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "oidc", Config: map[string]string{
			"idp-issuer-url":                 issuer.url,
			"idp-certificate-authority-data": base64.StdEncoding.EncodeToString(issuer.ca.pem),
			"client-id":                      "operator",
			"id-token":                       identityToken(time.Now().Add(-time.Hour)),
			"refresh-token":                  "refresh",
		}}
		client := f.client(t, cfg)
		for _, path := range []string{podPath, watchPath} {
			get(t, client, srv.url+path)
			if got := srv.last(t).Header.Get("Authorization"); got != "Bearer "+fresh {
				t.Errorf("GET %s with %q, want the refreshed token", path, got)
			}
		}
		if diff := cmp.Diff([]string{fresh}, kubeconfig.tokens); diff != "" {
			t.Errorf("tokens for the kubeconfig (-want +got):\n%s", diff)
		}
	})
}
