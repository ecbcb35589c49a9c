// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
)

// pod is the Pod of tests.
var pod = corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "operators", Name: "operator-1", UID: "4f2c"}

const claimsOfPod = `{"aud":["api"],"exp":1,"kubernetes.io":{"namespace":"operators","node":{"name":"n","uid":"5"},"pod":{"name":"operator-1","uid":"4f2c"},"serviceaccount":{"name":"operator","uid":"6"},"warnafter":2},"sub":"x"}`

func tokenOf(claims string) string {
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + "." + secret
}

func TestPodOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(tokenOf(claimsOfPod)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		cfg  rest.Config
		want string // error; "": the Pod
	}{
		{"the kubelet's file", rest.Config{BearerTokenFile: file}, ""},
		{"given to the program", rest.Config{BearerToken: tokenOf(claimsOfPod)}, ""},
		{"client-go prefers the file", rest.Config{BearerTokenFile: file, BearerToken: secret}, ""},
		{"a file that is not there", rest.Config{BearerTokenFile: file + "s"}, "the token cannot be read: open " + file + "s: no such file or directory"},
		{"a client certificate", rest.Config{}, "this process does not identify itself with a ServiceAccount's token, as one in a pod does"},
		{"something else", rest.Config{BearerToken: secret}, "the token of this process is not a ServiceAccount's"},
		{"no base64", rest.Config{BearerToken: "a.{" + secret + "}.b"}, "the token of this process is not a ServiceAccount's"},
		{"no JSON", rest.Config{BearerToken: tokenOf(secret)}, "the token of this process is not a ServiceAccount's"},
		{"another's claims", rest.Config{BearerToken: tokenOf(`{"kubernetes.io":"` + secret + `"}`)}, "the token of this process is not a ServiceAccount's"},
		{"of a Secret, as before 1.24", rest.Config{BearerToken: tokenOf(`{"kubernetes.io/serviceaccount/namespace":"operators"}`)}, "the token of this process is not bound to a Pod"},
		{"bound to nothing", rest.Config{BearerToken: tokenOf(`{"kubernetes.io":{"namespace":"operators"}}`)}, "the token of this process is not bound to a Pod"},
		{"without a UID", rest.Config{BearerToken: tokenOf(strings.Replace(claimsOfPod, "4f2c", "", 1))}, "the token of this process is not bound to a Pod"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := podOf(&tt.cfg)
			if tt.want == "" {
				if diff := cmp.Diff(pod, got); diff != "" || err != nil {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
				return
			}
			if err == nil || err.Error() != tt.want || (got != corev1.ObjectReference{}) {
				t.Errorf("%v, %v, want %s", got, err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Error("the error quotes the token")
			}
		})
	}
}

// A file that never ends, or is no token at all, does no harm.
func TestTokenIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(strings.Repeat("x", 2*tokenLimit)), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := readToken(file); err != nil || len(text) != tokenLimit {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func FuzzPodOfToken(f *testing.F) {
	for _, seed := range []string{"", "..", claimsOfPod, `{"kubernetes.io":null}`, `[]`, "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, claims string) {
		for _, token := range []string{claims, tokenOf(claims)} {
			ref, err := podOfToken(token)
			if err == nil && (ref.UID == "" || ref.Name == "" || ref.Namespace == "") {
				t.Errorf("%q is taken for that of %+v", token, ref)
			}
		}
	})
}
