// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/freshwatch/freshwatch/internal/restartlease"
)

// Role returns what a canary needs, and no more: to create Leases in a namespace, and
// everything else on the one Lease.
func Role(namespace, name string) *rbacv1.Role {
	return &rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Rules:      rules(name),
	}
}

func rules(name string) []rbacv1.PolicyRule {
	return restartlease.Rules(name, "get", "list", "watch", "update")
}
