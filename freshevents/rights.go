// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
)

// Role returns what it takes to write Events in a namespace, that of the object they are
// about, and no more: to create and to patch them. The Role for leader election that
// kubebuilder scaffolds (v4) has the same rule.
func Role(namespace, name string) *rbacv1.Role {
	return &rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Rules:      []rbacv1.PolicyRule{rule()},
	}
}

func rule() rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{corev1.GroupName}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}}
}

// missing asks which verbs this process may not use on Events of a namespace.
func missing(ctx context.Context, client authorizationclient.SelfSubjectAccessReviewInterface, namespace string) (verbs []string, err error) {
	r := rule()
	for _, verb := range r.Verbs {
		got, err := client.Create(ctx, &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: r.APIGroups[0], Resource: r.Resources[0]},
		}}, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		if !got.Status.Allowed {
			verbs = append(verbs, verb)
		}
	}
	return verbs, nil
}

// lacking says what to add to a Role, as YAML, so that nothing is missing.
func lacking(verbs []string, namespace string) string {
	r := rule()
	return fmt.Sprintf("this process may not %s events in namespace %q: add to its Role there the rule {apiGroups: [%q], resources: [%s], verbs: [%s]}",
		strings.Join(verbs, ", "), namespace, r.APIGroups[0], strings.Join(r.Resources, ", "), strings.Join(r.Verbs, ", "))
}
