// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientauthenticationv1 "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// pluginFileEnv makes the test binary an exec credential plugin: it prints the file.
const pluginFileEnv = "TRANSPORT_TEST_PLUGIN_FILE"

// runPlugin prints the file and notes beside it that it ran.
func runPlugin(file string, out io.Writer) (code int) {
	credential, err := os.ReadFile(file)
	if err != nil {
		return 1
	}
	runs, err := os.OpenFile(file+".runs", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 1
	}
	_, noted := runs.WriteString("x")
	_, printed := out.Write(credential)
	if errors.Join(noted, printed, runs.Close()) != nil {
		return 1
	}
	return 0
}

// plugin is an exec credential plugin whose answer the test decides.
type plugin struct{ credentialFile }

func newPlugin(t *testing.T) plugin {
	return plugin{newCredentialFile(t, "credential.json")}
}

// answer is what the plugin prints from now on. The credential is valid for that long.
func (p plugin) answer(t *testing.T, valid time.Duration, status clientauthenticationv1.ExecCredentialStatus) {
	t.Helper()
	status.ExpirationTimestamp = &metav1.Time{Time: time.Now().Add(valid)}
	out, err := json.Marshal(clientauthenticationv1.ExecCredential{
		TypeMeta: metav1.TypeMeta{APIVersion: clientauthenticationv1.SchemeGroupVersion.String(), Kind: "ExecCredential"},
		Status:   &status,
	})
	if err != nil {
		t.Fatal(err)
	}
	p.replace(t, out)
}

func (p plugin) config(t *testing.T) *clientcmdapi.ExecConfig {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &clientcmdapi.ExecConfig{
		APIVersion: clientauthenticationv1.SchemeGroupVersion.String(),
		Command:    self,
		Env: []clientcmdapi.ExecEnvVar{
			{Name: pluginFileEnv, Value: string(p.credentialFile)},
			{Name: "GORACE", Value: "atexit_sleep_ms=0"}, // the race detector lets a process end after a second
		},
		InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
	}
}

// runs returns how often the plugin has run.
func (p plugin) runs(t *testing.T) int {
	t.Helper()
	log, err := os.ReadFile(string(p.credentialFile) + ".runs")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return bytes.Count(log, []byte("x"))
}

// An exec plugin's token is used until it expires or is answered with 401; then the plugin runs again.
func TestExecPluginToken(t *testing.T) {
	parityInBubble(t, func(t *testing.T, f flavour) {
		network := newMemoryNetwork()
		srv := startServer(t, serverOptions{
			listener: network.listen("api.test:443"),
			handler: func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/refused" {
					w.WriteHeader(http.StatusUnauthorized)
				}
			},
		})
		helper := newPlugin(t)
		cfg := srv.config()
		cfg.Dial, cfg.ExecProvider = network.dial, helper.config(t)
		client := f.client(t, cfg)
		type seen struct {
			Authorization string
			Status, Runs  int
		}
		var got []seen
		ask := func(path string) {
			resp, _ := get(t, client, srv.url+path)
			got = append(got, seen{srv.last(t).Header.Get("Authorization"), resp.StatusCode, helper.runs(t)})
		}
		token := func(name string) {
			helper.answer(t, 10*time.Minute, clientauthenticationv1.ExecCredentialStatus{Token: name})
		}
		token("first")
		ask("/")
		pass(9 * time.Minute)
		token("second")
		ask("/")
		pass(2 * time.Minute)
		ask("/")
		token("third")
		ask("/refused") // the caller hears of it
		ask("/")
		if diff := cmp.Diff([]seen{
			{"Bearer first", 200, 1},
			{"Bearer first", 200, 1},
			{"Bearer second", 200, 2},
			{"Bearer second", 401, 3},
			{"Bearer third", 200, 3},
		}, got); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

// An exec plugin's new client certificate closes the connections that were made with the old one, and the watch on them
// is resumed.
func TestExecPluginCertificate(t *testing.T) {
	parityInBubble(t, func(t *testing.T, f flavour) {
		network := newMemoryNetwork()
		ca := newAuthority(t, "authority")
		objects := newConfigMaps("a")
		srv := startServer(t, serverOptions{
			listener: network.listen("api.test:443"), ca: ca, clients: ca, handler: objects.serve,
		})
		helper := newPlugin(t)
		certificate := func(name string) {
			cert, key := ca.issue(t, name)
			helper.answer(t, 30*time.Second, clientauthenticationv1.ExecCredentialStatus{
				ClientCertificateData: string(cert), ClientKeyData: string(key),
			})
		}
		cfg := srv.config()
		cfg.Dial, cfg.ExecProvider = network.dial, helper.config(t)
		f.apply(t, cfg)
		certificate("before")
		informer := startInformer(t, cfg)
		pass(20 * time.Second)
		certificate("after")
		pass(20 * time.Second) // the first one has expired, which the next request finds
		get(t, clientFor(t, cfg), srv.url+"/api/v1/namespaces/default/configmaps")
		pass(5 * time.Second)
		objects.create("b")
		synctest.Wait()
		if !holds(informer, "a") || !holds(informer, "b") {
			t.Errorf("the informer holds %v, want a and b", informer.GetStore().ListKeys())
		}
		last := srv.last(t)
		if last.CommonName != "after" {
			t.Errorf("the last request, %s, came from %q, want the new certificate", last.URI, last.CommonName)
		}
		asked := objects.asked()
		slices.Sort(asked) // the list and the watch that its new certificate ends come at the same time
		if diff := cmp.Diff([]string{"initial events", "list", "watch from 101"}, asked); diff != "" {
			t.Errorf("the watch was not resumed (-want +got):\n%s", diff)
		}
	})
}
