// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/controlplane"
)

// account is a ServiceAccount in a namespace of its own, with an object to ask
// for.
type account struct {
	plane    *plane
	ns, name string
	path     string // of the object
}

// newAccount creates a ServiceAccount. If it is permitted, it may read ConfigMaps.
func newAccount(t *testing.T, p *plane, permitted bool) *account {
	t.Helper()
	a := &account{plane: p, ns: p.namespace(t, "account"), name: "operator"}
	p.put(t, configMaps.object(a.ns, edited, before), configMaps)
	a.path = "/api/v1/namespaces/" + a.ns + "/configmaps/" + edited
	a.create(t)
	if permitted {
		a.permit(t)
	}
	return a
}

func (a *account) create(t *testing.T) {
	t.Helper()
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: a.name}}
	if _, err := a.plane.Typed.CoreV1().ServiceAccounts(a.ns).Create(t.Context(), sa, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (a *account) permit(t *testing.T) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: a.name}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{configMaps.resource()}, Verbs: []string{"get", "list", "watch"},
	}}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: meta,
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: a.ns, Name: a.name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: a.name},
	}
	rbac := a.plane.Typed.RbacV1()
	if _, err := rbac.Roles(a.ns).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rbac.RoleBindings(a.ns).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// recreate deletes the ServiceAccount and creates it again, as `kubectl replace
// --force` and some installers do, and returns when it was deleted. Its
// permissions stay, its tokens die.
func (a *account) recreate(t *testing.T) time.Time {
	t.Helper()
	if err := a.plane.Typed.CoreV1().ServiceAccounts(a.ns).Delete(t.Context(), a.name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	deleted := time.Now()
	a.create(t)
	return deleted
}

// subject is what the API server calls the ServiceAccount.
func (a *account) subject() string { return "system:serviceaccount:" + a.ns + ":" + a.name }

// config returns that of a client with a new token.
func (a *account) config(t *testing.T) *rest.Config {
	t.Helper()
	cfg, err := a.plane.ServiceAccount(t.Context(), a.ns, a.name, controlplane.MinTokenExpiry)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// inCluster returns a config as rest.InClusterConfig makes it, and the file that
// holds its token.
func (a *account) inCluster(t *testing.T, token string) (cfg *rest.Config, file string) {
	t.Helper()
	cfg = a.config(t)
	file = filepath.Join(t.TempDir(), "token")
	writeToken(t, file, token)
	cfg.BearerToken, cfg.BearerTokenFile = token, file
	return cfg, file
}

// writeToken replaces a file at once, as the kubelet does.
func writeToken(t *testing.T, file, token string) {
	t.Helper()
	if err := os.WriteFile(file+".new", []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

// tokenUntil returns a token of the ServiceAccount with another expiry: one that
// the API server itself could have signed, since it is signed with its key.
func (a *account) tokenUntil(t *testing.T, expires time.Time) string {
	t.Helper()
	parts := strings.Split(a.config(t).BearerToken, ".")
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	claims := map[string]any{}
	if err := json.Unmarshal(payload, &claims); err != nil {
		t.Fatal(err)
	}
	issued := expires.Add(-controlplane.MinTokenExpiry)
	claims["exp"], claims["iat"], claims["nbf"] = expires.Unix(), issued.Unix(), issued.Unix()
	if payload, err = json.Marshal(claims); err != nil {
		t.Fatal(err)
	}
	signed := parts[0] + "." + base64.RawURLEncoding.EncodeToString(payload)
	return signed + "." + base64.RawURLEncoding.EncodeToString(a.plane.sign(t, signed))
}

// sign signs with the key that the API server signs tokens with, by ES256 (RFC
// 7518).
func (p *plane) sign(t *testing.T, text string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(filepath.Dir(p.Kubeconfig()), "service-account.key"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(content)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, parsed.(*ecdsa.PrivateKey), hash[:])
	if err != nil {
		t.Fatal(err)
	}
	out := make([]byte, 64)
	r.FillBytes(out[:32])
	s.FillBytes(out[32:])
	return out
}
