// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"net/http"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// account is the ServiceAccount of a namespace's pods.
const account = "operator"

// newAccount returns what pods of a namespace use. They may do what an operator has to,
// and these rules besides.
func newAccount(t *testing.T, p *realplane.Plane, ns string, rules ...rbacv1.PolicyRule) *rest.Config {
	t.Helper()
	cfg, err := p.ServiceAccount(t.Context(), ns, account, 0)
	if err != nil {
		t.Fatal(err)
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: election}}
	if _, err := p.Typed.CoordinationV1().Leases(ns).Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: account}, Rules: append([]rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
		{APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"}, ResourceNames: []string{election}, Verbs: []string{"get", "update"}},
	}, rules...)}
	if _, err := p.Typed.RbacV1().Roles(ns).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Typed.RbacV1().RoleBindings(ns).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: account},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: account}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitRights(t, cfg, ns)
	return cfg
}

// awaitRights waits until the Role is in force.
func awaitRights(t *testing.T, cfg *rest.Config, ns string) {
	t.Helper()
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer httpClient.CloseIdleConnections()
	c, err := kubernetes.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	await(t, patience, "the Role is in force", func() bool {
		_, err := c.CoordinationV1().Leases(ns).Get(t.Context(), election, metav1.GetOptions{})
		return err == nil
	})
}

// clientOf is what a budget is made from without a manager.
type clientOf struct {
	config *rest.Config
	http   *http.Client
}

func (c clientOf) GetConfig() *rest.Config     { return c.config }
func (c clientOf) GetHTTPClient() *http.Client { return c.http }

// budgetRules is what a restart budget says that it needs.
func budgetRules(t *testing.T, p *realplane.Plane, ns string) []rbacv1.PolicyRule {
	t.Helper()
	b, err := reconcile.NewRestartBudget(clientOf{p.Config(), p.HTTP}, reconcile.RestartBudgetOptions{Namespace: ns})
	if err != nil {
		t.Fatal(err)
	}
	return b.Rules()
}
