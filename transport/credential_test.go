// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/transport"
)

// roundTripFunc is a transport made of a function.
type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// addsToken is a WrapTransport that brings a token, as an OAuth client would.
func addsToken(token string) transport.WrapperFunc {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(req *http.Request) (*http.Response, error) {
			if token != "" && req.Header.Get("Authorization") == "" {
				req = req.Clone(req.Context())
				req.Header.Set("Authorization", "Bearer "+token)
			}
			return next.RoundTrip(req)
		})
	}
}

// testProvider is an auth provider plugin that brings its own token.
type testProvider struct{}

func (testProvider) WrapTransport(next http.RoundTripper) http.RoundTripper {
	return addsToken("provided")(next)
}
func (testProvider) Login() error { return nil }

// registerTestProvider registers it with client-go, which keeps it for good.
var registerTestProvider = sync.OnceValue(func() error {
	return rest.RegisterAuthProviderPlugin("freshwatch-test", func(string, map[string]string, rest.AuthProviderConfigPersister) (rest.AuthProvider, error) {
		return testProvider{}, nil
	})
})

// execConfig is a config whose token comes from a plugin.
func execConfig(command string) *rest.Config {
	return &rest.Config{Host: testAPI, ExecProvider: &clientcmdapi.ExecConfig{
		APIVersion:      "client.authentication.k8s.io/v1",
		Command:         command,
		Args:            []string{"-c", `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"plugged"}}'`},
		InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
	}}
}

// certificate returns a client certificate and its key.
func certificate(t *testing.T, name string, notAfter time.Time) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: notAfter}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
}

// TestJudgeWhatClientGoSends has client-go itself make the requests, of a config
// and of changed copies of it.
func TestJudgeWhatClientGoSends(t *testing.T) {
	if err := registerTestProvider(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "token")
	writeTokenFile(t, file, "filed\n")
	cert, key := certificate(t, "jane", time.Now().Add(time.Hour))
	certified := func(c *rest.Config) {
		c.CertData, c.KeyData, c.Insecure = cert, key, true
	}
	configOf := func(changes ...func(*rest.Config)) *rest.Config {
		c := &rest.Config{Host: testAPI}
		for _, change := range changes {
			change(c)
		}
		return c
	}
	token := func(token string) func(*rest.Config) {
		return func(c *rest.Config) { c.BearerToken = token }
	}
	tokenFile := func(file string) func(*rest.Config) {
		return func(c *rest.Config) { c.BearerTokenFile = file }
	}
	password := func(user, word string) func(*rest.Config) {
		return func(c *rest.Config) { c.Username, c.Password = user, word }
	}
	provider := func(c *rest.Config) { c.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "freshwatch-test"} }
	plugin := func(c *rest.Config) { c.ExecProvider = execConfig("sh").ExecProvider }
	wrapped := func(token string) func(*rest.Config) {
		return func(c *rest.Config) { c.Wrap(addsToken(token)) }
	}
	acting := func(c *rest.Config) { c.Impersonate.UserName = "jane" }

	tests := []struct {
		name   string
		cfg    *rest.Config
		change func(*rest.Config) // of a copy, which makes the request
		header string             // that the caller sets
		want   owner
	}{
		{name: "anonymous", cfg: configOf(), want: others},
		{name: "anonymous, copied with a token", cfg: configOf(), change: token("a"), want: others},

		{name: "token", cfg: configOf(token("a")), want: ours},
		{name: "token, copied", cfg: configOf(token("a")), change: func(*rest.Config) {}, want: ours},
		{name: "token, copied with another", cfg: configOf(token("a")), change: token("b"), want: others},
		{name: "token, copied without", cfg: configOf(token("a")), change: token(""), want: others},
		{name: "token, copied with a file", cfg: configOf(token("a")), change: tokenFile(file), want: others},
		{name: "token, another in the request", cfg: configOf(token("a")), header: "Bearer b", want: others},
		{name: "token, impersonating", cfg: configOf(token("a"), acting), want: impersonated},
		{name: "token, copied to impersonate", cfg: configOf(token("a")), change: acting, want: impersonated},
		{name: "token, another in the request, impersonating", cfg: configOf(token("a"), acting), header: "Bearer b", want: others},
		{name: "token and certificate", cfg: configOf(token("a"), certified), want: ours},
		{name: "token and certificate, copied without token", cfg: configOf(token("a"), certified), change: token(""), want: others},
		{name: "token and plugin", cfg: configOf(token("a"), plugin), want: ours},
		{name: "token and provider", cfg: configOf(token("a"), provider), want: ours},
		{name: "token and wrapper", cfg: configOf(token("a"), wrapped("c")), want: ours},

		{name: "file", cfg: configOf(tokenFile(file)), want: ours},
		{name: "file and token, in a cluster", cfg: configOf(tokenFile(file), token("filed")), want: ours},
		{name: "file and another token", cfg: configOf(tokenFile(file), token("a")), want: ours},
		{name: "file and another token, copied without file", cfg: configOf(tokenFile(file), token("a")), change: tokenFile(""), want: others},
		{name: "file, copied with its token alone", cfg: configOf(tokenFile(file)), change: func(c *rest.Config) { c.BearerTokenFile, c.BearerToken = "", "filed" }, want: ours},
		{name: "file that is not there, and token", cfg: configOf(tokenFile(file+".none"), token("a")), want: ours},

		{name: "password", cfg: configOf(password("jane", "x:y")), want: ours},
		{name: "password, copied with another", cfg: configOf(password("jane", "x")), change: password("jane", "y"), want: others},
		{name: "password, a token in the request", cfg: configOf(password("jane", "x")), header: "Bearer b", want: others},

		{name: "certificate", cfg: configOf(certified), want: ours},
		{name: "certificate, impersonating", cfg: configOf(certified, acting), want: impersonated},
		{name: "certificate, copied with a token", cfg: configOf(certified), change: token("b"), want: others},
		{name: "certificate and a wrapper that adds nothing", cfg: configOf(certified, wrapped("")), want: ours},
		{name: "certificate and plugin", cfg: configOf(certified, plugin), want: ours},
		{name: "certificate without key", cfg: configOf(func(c *rest.Config) { c.CertData, c.Insecure = nil, true }), want: others},

		{name: "plugin", cfg: configOf(plugin), want: ours},
		{name: "plugin, impersonating", cfg: configOf(plugin, acting), want: impersonated},
		{name: "provider", cfg: configOf(provider), want: ours},
		{name: "provider and certificate", cfg: configOf(provider, certified), want: ours},
		{name: "wrapper", cfg: configOf(wrapped("c")), want: ours},
		{name: "wrapper that adds nothing", cfg: configOf(wrapped("")), want: others},
		{name: "plugin, copied with a token", cfg: configOf(plugin), change: token("b"), want: ours}, // documented: nobody can tell
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cred, err := newCredential(tt.cfg)
			if err != nil {
				t.Fatal(err)
			}
			var got []owner
			tt.cfg.WrapTransport = transport.Wrappers(func(http.RoundTripper) http.RoundTripper {
				return roundTripFunc(func(req *http.Request) (*http.Response, error) {
					whose, _ := cred.judge(req)
					got = append(got, whose)
					return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
				})
			}, tt.cfg.WrapTransport)
			cfg := tt.cfg
			if tt.change != nil {
				cfg = rest.CopyConfig(cfg)
				tt.change(cfg)
			}
			client, err := rest.HTTPClientFor(cfg)
			if err != nil {
				t.Fatal(err)
			}
			req := newTestRequest(t, testAPI+"/api/v1/pods", "-")
			if tt.header != "" {
				req.Header.Set("Authorization", tt.header)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if len(got) != 1 || got[0] != tt.want {
				t.Errorf("judged %v, want %v", got, tt.want)
			}
		})
	}
}

func TestJudgeHost(t *testing.T) {
	tests := []struct {
		host string
		tls  bool // implied by other settings
		url  string
		want owner
	}{
		{host: "https://api.example", url: "https://api.example/api", want: ours},
		{host: "https://api.example", url: "https://api.example:443/api", want: ours},
		{host: "https://api.example:443", url: "https://api.example/api", want: ours},
		{host: "https://API.example", url: "https://api.EXAMPLE/api", want: ours},
		{host: "https://api.example", url: "https://api.example:6443/api", want: others},
		{host: "https://api.example", url: "http://api.example/api", want: others},
		{host: "https://api.example", url: "https://other.example/api", want: others},
		{host: "https://api.example", url: "https://api.example.evil/api", want: others},
		{host: "http://api.example", url: "http://api.example:80/api", want: ours},
		{host: "10.0.0.1:6443", url: "http://10.0.0.1:6443/api", want: ours},
		{host: "10.0.0.1", url: "http://10.0.0.1/api", want: ours},
		{host: "10.0.0.1", tls: true, url: "https://10.0.0.1/api", want: ours},
		{host: "10.0.0.1", tls: true, url: "http://10.0.0.1/api", want: others},
		{host: "https://[fd00::1]:6443", url: "https://[FD00::1]:6443/api", want: ours},
		{host: "", url: "http://localhost/api", want: ours},
		{host: "https://rancher/k8s/clusters/c-1", url: "https://rancher/k8s/clusters/c-1/api", want: ours},
		{host: "https://rancher/k8s/clusters/c-1/", url: "https://rancher/k8s/clusters/c-1/api", want: ours},
		{host: "https://rancher/k8s/clusters/c-1", url: "https://rancher/k8s/clusters/c-10/api", want: others},
		{host: "https://rancher/k8s/clusters/c-1", url: "https://rancher/api", want: others},
		{host: "https://api.example/", url: "https://api.example", want: ours},
	}
	for _, tt := range tests {
		t.Run(tt.host+" "+tt.url, func(t *testing.T) {
			cred, err := newCredential(&rest.Config{Host: tt.host, BearerToken: "mine", TLSClientConfig: rest.TLSClientConfig{Insecure: tt.tls}})
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := cred.judge(newTestRequest(t, tt.url, "mine")); got != tt.want {
				t.Errorf("judged %v, want %v", got, tt.want)
			}
		})
	}
}

// A header that only looks like a credential is nobody's.
func TestJudgeEmptyToken(t *testing.T) {
	for _, cfg := range []*rest.Config{
		{Host: testAPI, BearerTokenFile: filepath.Join(t.TempDir(), "none")},
		{Host: testAPI},
	} {
		cred, err := newCredential(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, header := range []string{"", " ", "Bearer", "Bearer ", "Basic Og=="} {
			req := newTestRequest(t, testAPI, "-")
			req.Header["Authorization"] = []string{header}
			if got, _ := cred.judge(req); got != others {
				t.Errorf("%q: judged %v, want %v", header, got, others)
			}
		}
	}
}

func TestReadClaims(t *testing.T) {
	expires := time.Unix(1772366400, 0)
	for _, tt := range []struct {
		name    string
		token   string
		subject string
		expires time.Time
	}{
		{"ServiceAccount", jwt(`{"sub":"system:serviceaccount:a:b","exp":1772366400}`), "system:serviceaccount:a:b", expires},
		{"no expiry", jwt(`{"sub":"system:serviceaccount:a:b"}`), "system:serviceaccount:a:b", time.Time{}},
		{"fraction", jwt(`{"exp":1772366400.9}`), "", expires},
		{"expiry of nonsense", jwt(`{"sub":"b","exp":-1}`), "b", time.Time{}},
		{"expiry after all time", jwt(`{"sub":"b","exp":1e300}`), "b", time.Time{}},
		{"other claims are objects", jwt(`{"kubernetes.io":{"namespace":"a"},"aud":["x"],"sub":"b"}`), "b", time.Time{}},
		{"not for a log", jwt(`{"sub":"b\nlevel=info"}`), "", time.Time{}},
		{"too long for a log", jwt(`{"sub":"` + longText(513) + `"}`), "", time.Time{}},
		{"as long as may be", jwt(`{"sub":"` + longText(512) + `"}`), longText(512), time.Time{}},
		{"wrong types", jwt(`{"sub":1,"exp":"x"}`), "", time.Time{}},
		{"opaque", "abcdef", "", time.Time{}},
		{"two parts", "a.b", "", time.Time{}},
		{"not base64", "a.!.c", "", time.Time{}},
		{"not JSON", jwt(`x`), "", time.Time{}},
		{"empty", "", "", time.Time{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			subject, expires := readClaims(tt.token)
			if subject != tt.subject || !expires.Equal(tt.expires) {
				t.Errorf("got %q, %v, want %q, %v", subject, expires, tt.subject, tt.expires)
			}
		})
	}
}

func TestReadCertificate(t *testing.T) {
	notAfter := dawn.Add(time.Hour)
	cert, key := certificate(t, "jane", notAfter)
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	for _, tt := range []struct {
		name    string
		data    []byte
		file    string
		subject string
	}{
		{"data", cert, "", "jane"},
		{"file", nil, write("cert", cert), "jane"},
		{"file, key first", nil, write("both", append(key, cert...)), "jane"},
		{"data before file", cert, write("empty", nil), "jane"},
		{"no file", nil, filepath.Join(dir, "none"), ""},
		{"no certificate", key, "", ""},
		{"broken", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}), "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			subject, expires := (&credential{certData: tt.data, certFile: tt.file}).readCertificate()
			if subject != tt.subject || expires.Equal(notAfter) != (tt.subject != "") {
				t.Errorf("got %q, %v, want %q", subject, expires, tt.subject)
			}
		})
	}
}
