// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package generations

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// Who may not read says which rule is missing, and who reads with a dead token, that it
// cannot: such a lag is another's to find.
func TestRights(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	const account = "reader"
	cfg, err := p.ServiceAccount(t.Context(), namespace, account, 0)
	if err != nil {
		t.Fatal(err)
	}
	w := watch(t, cfg, reconcile.GenerationKind{Object: &appsv1.ReplicaSet{}})
	told := func(text string) func() bool {
		return func() bool { return len(w.logged(text)) > 0 }
	}
	w.await(t, patience, "the rule is told", told(`{apiGroups: [\"apps\"], resources: [replicasets], verbs: [list]}`))
	if !apierrors.IsForbidden(w.of("replicasets").Err) {
		t.Errorf("%v, want that it is forbidden", w.of("replicasets").Err)
	}

	p.grant(t, account, rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"replicasets"}, Verbs: []string{"list"}})
	w.await(t, patience, "it is read", w.read("replicasets", w.begin))
	w.await(t, patience, "that is told", told("can be read again"))

	if err := p.Typed.CoreV1().ServiceAccounts(namespace).Delete(t.Context(), account, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	noticed := w.await(t, patience, "the token is dead", told("delete the Pod"))
	if n, _ := w.metric(t, "freshwatch_generation_reads_total", "unauthorized"); n == 0 {
		t.Error("no read is counted as unauthorized")
	}
	if n := len(w.logged("cannot be read")); n != 2 {
		t.Errorf("%d lines of reads that fail, want one for each reason", n)
	}
	figures(t, map[string]any{"noticedAfter": noticed, "error": w.of("replicasets").Err.Error()})
}

// grant gives an account a ClusterRole of one rule.
func (p *plane) grant(t *testing.T, account string, rule rbacv1.PolicyRule) {
	t.Helper()
	rbac := p.Typed.RbacV1()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: account}, Rules: []rbacv1.PolicyRule{rule}}
	if _, err := rbac.ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: account},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account}},
	}
	if _, err := rbac.ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
