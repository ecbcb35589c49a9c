// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestMessage(t *testing.T) {
	const account = "system:serviceaccount:models:operator"
	begin := "The API server refuses this process's credential: 5 answers of 401 Unauthorized and no success since 2026-03-01T12:00:00Z (for 92s), over 2 new connections too. "
	now := someCause.Until
	tests := []struct {
		name    string
		source  credentialSource
		subject string
		expires time.Time
		want    string
	}{
		{"ServiceAccount", fromTokenFile, account, now.Add(45 * time.Minute), "The credential is a token from a file, of system:serviceaccount:models:operator, valid until 2026-03-01T12:46:32Z. The ServiceAccount was probably deleted, and perhaps created again. Restarting the container does not help, because the kubelet hands out the same token from its cache until it refreshes it (at 80% of its life). Delete the Pod."},
		{"ServiceAccount, expires now", fromTokenFile, account, now, "valid until 2026-03-01T12:01:32Z. The ServiceAccount was probably deleted"},
		{"ServiceAccount, expired", fromTokenFile, account, now.Add(-12 * time.Minute), "The credential is a token from a file, of system:serviceaccount:models:operator, expired 12m ago. It was not renewed in time: check the kubelet, the clock of the node, and any program that writes the file. A restarted container reads the file again."},
		{"ServiceAccount, no expiry", fromTokenFile, account, time.Time{}, "of system:serviceaccount:models:operator. The ServiceAccount was probably deleted"},
		{"opaque token from a file", fromTokenFile, "", time.Time{}, "The credential is a token from a file. It may have been revoked, or the keys of its issuer replaced. A restarted container reads the file again."},
		{"another user's token from a file", fromTokenFile, "jane", now.Add(time.Hour), "of jane, valid until 2026-03-01T13:01:32Z. It may have been revoked"},
		{"token", fromConfig, "", time.Time{}, "The credential is a token in the program's configuration. It may have been revoked: restart the program with a new one."},
		{"token of a ServiceAccount", fromConfig, account, now.Add(time.Hour), "The ServiceAccount was probably deleted, and perhaps created again: restart the program with a new token. If it takes the token from the Pod's own volume, delete the Pod: the kubelet hands the same token to a restarted container."},
		{"token, expired", fromConfig, account, now.Add(-time.Hour), "expired 60m ago. Nothing renews a token that is given to a program in this way: restart it with a new one, and let it read the token from a file (BearerTokenFile)."},
		{"certificate", fromCertificate, "jane", now.Add(time.Hour), "The credential is a client certificate, of jane, valid until 2026-03-01T13:01:32Z. The API server may have been given another CA for clients."},
		{"certificate, expired", fromCertificate, "jane", now.Add(-time.Second), "expired 1s ago. Renew it: a running program reads certificate files again, and a restart does too."},
		{"plugin", fromPlugin, "", time.Time{}, "The credential is what the exec plugin aws returns. client-go asks the plugin again after each 401, so that a restart alone changes nothing: check as whom the plugin logs in, and whether this cluster still knows it."},
		{"provider", fromProvider, "jane", time.Time{}, "The credential is a token that the program's own code provides, of jane. A restart makes the program ask for a new token: check where it gets its tokens from."},
		{"password", fromPassword, "", time.Time{}, "The credential is a user name with a password. Check both where the API server, or the proxy before it, keeps them."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := someCause
			u.source, u.plugin, u.Subject, u.Expires = tt.source, "aws", tt.subject, tt.expires
			got, ok := strings.CutPrefix(u.Message(), begin)
			if !ok || !strings.Contains(got, tt.want) || strings.HasPrefix(tt.want, "The credential") && got != tt.want {
				t.Errorf("got  %q\nwant %q", u.Message(), begin+tt.want)
			}
			if len(u.Message()) > terminationLimit/2 {
				t.Errorf("the message has %d bytes", len(u.Message()))
			}
		})
	}
}

func TestUnauthorizedString(t *testing.T) {
	for _, tt := range []struct {
		u    Unauthorized
		want string
	}{
		{someCause, "The API server refuses this process's credential: 5 answers of 401 Unauthorized and no success since 2026-03-01T12:00:00Z (for 92s), over 2 new connections too."},
		{Unauthorized{Since: dawn, Until: dawn.Add(10 * time.Minute), Responses: 20, FreshConnections: 1}, "The API server refuses this process's credential: 20 answers of 401 Unauthorized and no success since 2026-03-01T12:00:00Z (for 10m), over 1 new connection too."},
		{Unauthorized{Since: dawn, Until: dawn, Responses: 1}, "The API server refuses this process's credential: 1 answer of 401 Unauthorized and no success since 2026-03-01T12:00:00Z."},
	} {
		if got := tt.u.String(); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}

// What leads to an exit reaches the hook, the log and the termination message,
// and none of them shows a secret.
func TestNoSecretIsTold(t *testing.T) {
	const account, secret = "system:serviceaccount:models:operator", "s3cr3t-of-a-test"
	token := jwt(`{"sub":"` + account + `","exp":1,"jti":"` + secret + `"}`)
	file := filepath.Join(t.TempDir(), "token")
	writeTokenFile(t, file, token)
	cert, key := certificate(t, account, dawn)
	bearer := "Bearer " + token
	tests := []struct {
		name   string
		cfg    *rest.Config
		header string
		told   string
	}{
		{"token file", &rest.Config{BearerTokenFile: file}, bearer, account},
		{"token", &rest.Config{BearerToken: token}, bearer, account},
		{"opaque token", &rest.Config{BearerToken: secret}, "Bearer " + secret, "may have been revoked"},
		{"plugin", execConfig("/opt/aws"), bearer, "exec plugin aws"},
		{"provider", &rest.Config{WrapTransport: addsToken(token)}, bearer, account},
		{"password", &rest.Config{Username: "jane", Password: secret}, "Basic " + basic("jane", secret), "a user name with a password"},
		{"certificate", &rest.Config{TLSClientConfig: rest.TLSClientConfig{CertData: cert, KeyData: key}}, "", account},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				s.opts.Immediate = true
				s.opts.BeforeExit = func(u Unauthorized) { s.say(fmt.Sprintf("%v %+v %#v %s", u, u, u, u.Message())) }
				tt.cfg.Host = testAPI
				u, err := newUnauthorized(tt.cfg, &s.opts, clocktesting.NewFakePassiveClock(dawn), s.logger())
				if err != nil {
					t.Fatal(err)
				}
				req := newTestRequest(t, testAPI, "-")
				if tt.header != "" {
					req.Header.Set("Authorization", tt.header)
				}
				u.observe(req, http.StatusUnauthorized, time.Time{}, nil)
				synctest.Wait()

				texts := map[string]string{"log": strings.Join(s.lines, "\n"), "termination message": s.terminationMessage(), "hook": strings.Join(s.said, "\n")}
				for where, text := range texts {
					if !strings.Contains(text, tt.told) {
						t.Errorf("%s: %q, want %q in it", where, text, tt.told)
					}
					for _, part := range append(strings.Split(token, "."), secret, basic("jane", secret), "Bearer ", "Basic ", "PRIVATE KEY") {
						if strings.Contains(text, part) {
							t.Errorf("%s shows %q: %q", where, part, text)
						}
					}
				}
			})
		})
	}
}

func basic(user, password string) string {
	req := &http.Request{Header: http.Header{}}
	req.SetBasicAuth(user, password)
	return strings.TrimPrefix(req.Header.Get("Authorization"), "Basic ")
}
