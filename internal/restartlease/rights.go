// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package restartlease

import (
	"context"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
)

// Resource is that of the Lease.
const Resource = "leases"

// Create cannot be granted for one Lease, since its name is not known to the authorizer.
const Create = "create"

// Rules returns what it takes to create Leases, and to use the verbs on one of that name.
func Rules(name string, verbs ...string) []rbacv1.PolicyRule {
	rule := func(names []string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{coordinationv1.GroupName}, Resources: []string{Resource}, ResourceNames: names, Verbs: verbs}
	}
	return []rbacv1.PolicyRule{rule(nil, Create), rule([]string{name}, verbs...)}
}

// Missing asks which verbs of rules this process may not use on the Lease.
func Missing(ctx context.Context, client authorizationclient.SelfSubjectAccessReviewInterface, namespace, name string, rules []rbacv1.PolicyRule) (missing []string, err error) {
	for _, rule := range rules {
		for _, verb := range rule.Verbs {
			attributes := &authorizationv1.ResourceAttributes{
				Namespace: namespace, Verb: verb, Group: coordinationv1.GroupName, Resource: Resource, Name: name,
			}
			if verb == Create {
				attributes.Name = ""
			}
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes}}
			got, err := client.Create(ctx, review, metav1.CreateOptions{})
			if err != nil {
				return nil, err
			}
			if !got.Status.Allowed {
				missing = append(missing, verb)
			}
		}
	}
	return missing, nil
}

// Lacking says which of rules to add to a Role, as YAML, so that nothing is missing.
func Lacking(missing []string, namespace, name string, rules []rbacv1.PolicyRule) string {
	var lacking []string
	for _, r := range rules {
		if !slices.ContainsFunc(r.Verbs, func(v string) bool { return slices.Contains(missing, v) }) {
			continue
		}
		names := ""
		if len(r.ResourceNames) > 0 {
			names = fmt.Sprintf(", resourceNames: [%s]", strings.Join(r.ResourceNames, ", "))
		}
		lacking = append(lacking, fmt.Sprintf("{apiGroups: [%s], resources: [%s]%s, verbs: [%s]}",
			strings.Join(r.APIGroups, ", "), strings.Join(r.Resources, ", "), names, strings.Join(r.Verbs, ", ")))
	}
	return fmt.Sprintf("this process may not %s leases.coordination.k8s.io %q in namespace %q: add to its Role there the rules [%s]",
		strings.Join(missing, ", "), name, namespace, strings.Join(lacking, ", "))
}
