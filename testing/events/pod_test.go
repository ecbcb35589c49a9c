// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// account is the ServiceAccount of a namespace's pods.
const account = "operator"

// pod is what a process in one has: a name, and the file of a token that is bound to it.
type pod struct {
	plane     *realplane.Plane
	namespace string
	name      string
	uid       types.UID
	cfg       *rest.Config
}

// newPod makes a Pod in a namespace of its own. It may watch ConfigMaps everywhere, and do
// what role says in its own namespace; nil: nothing.
func newPod(t *testing.T, p *realplane.Plane, role func(namespace, name string) *rbacv1.Role) *pod {
	t.Helper()
	core := p.Typed.CoreV1()
	ns, err := core.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "events-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.ServiceAccount(t.Context(), ns.Name, account, 0); err != nil {
		t.Fatal(err)
	}
	grant(t, p, ns.Name, role)
	made, err := core.Pods(ns.Name).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "operator-"},
		Spec: corev1.PodSpec{
			ServiceAccountName: account,
			Containers:         []corev1.Container{{Name: "manager", Image: "example.com/operator"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	token, err := core.ServiceAccounts(ns.Name).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: made.Name, UID: made.UID},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := p.Config()
	cfg.BearerToken, cfg.BearerTokenFile = "", filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(cfg.BearerTokenFile, []byte(token.Status.Token), 0o600); err != nil {
		t.Fatal(err)
	}
	return &pod{plane: p, namespace: ns.Name, name: made.Name, uid: made.UID, cfg: cfg}
}

func grant(t *testing.T, p *realplane.Plane, ns string, role func(namespace, name string) *rbacv1.Role) {
	t.Helper()
	cluster := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}}},
	}
	if _, err := p.Typed.RbacV1().ClusterRoles().Create(t.Context(), cluster, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Typed.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: ns}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: ns}, Subjects: subjects(ns),
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if role != nil {
		bind(t, p, ns, role(ns, account))
	}
}

// bind gives the account of a namespace a Role.
func bind(t *testing.T, p *realplane.Plane, ns string, role *rbacv1.Role) {
	t.Helper()
	if _, err := p.Typed.RbacV1().Roles(ns).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Typed.RbacV1().RoleBindings(ns).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name}, Subjects: subjects(ns),
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func subjects(ns string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: account}}
}

// described returns the Events that kubectl describe pod would show, by its selector
// (kubectl 1.37: the name, the namespace and the UID), the oldest first.
func (p *pod) described(t *testing.T) []corev1.Event {
	t.Helper()
	return eventsOf(t, p.plane, &p.name, &p.namespace, nil, new(string(p.uid)))
}

func eventsOf(t *testing.T, p *realplane.Plane, name, namespace, kind, uid *string) []corev1.Event {
	t.Helper()
	client := p.Typed.CoreV1().Events(*namespace)
	list, err := client.List(t.Context(), metav1.ListOptions{FieldSelector: client.GetFieldSelector(name, namespace, kind, uid).String()})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Event) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	return list.Items
}

// all returns all Events in the pod's namespace, whatever they are about.
func (p *pod) all(t *testing.T) []corev1.Event {
	t.Helper()
	return eventsOf(t, p.plane, nil, &p.namespace, nil, nil)
}
