// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

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

const leases = "leases"

// create cannot be granted for one Lease, since its name is not known to the authorizer.
const create = "create"

// named returns the verbs that can.
func named() []string { return []string{"get", "list", "watch", "update"} }

// Role returns what a canary needs, and no more: to create Leases in a namespace, and
// everything else on the one Lease.
func Role(namespace, name string) *rbacv1.Role {
	rule := func(names []string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{coordinationv1.GroupName}, Resources: []string{leases}, ResourceNames: names, Verbs: verbs}
	}
	return &rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Rules:      []rbacv1.PolicyRule{rule(nil, create), rule([]string{name}, named()...)},
	}
}

// missingRights asks which of the verbs this process may not use.
func missingRights(ctx context.Context, client authorizationclient.SelfSubjectAccessReviewInterface, namespace, name string) (missing []string, err error) {
	for _, verb := range append(named(), create) {
		attributes := &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: verb, Group: coordinationv1.GroupName, Resource: leases, Name: name,
		}
		if verb == create {
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
	return missing, nil
}

// rulesFor is what to add to a Role, as YAML, so that nothing is missing.
func rulesFor(missing []string, namespace, name string) string {
	var rules []string
	for _, r := range Role(namespace, name).Rules {
		if !slices.ContainsFunc(r.Verbs, func(v string) bool { return slices.Contains(missing, v) }) {
			continue
		}
		names := ""
		if len(r.ResourceNames) > 0 {
			names = fmt.Sprintf(", resourceNames: [%s]", strings.Join(r.ResourceNames, ", "))
		}
		rules = append(rules, fmt.Sprintf("{apiGroups: [%s], resources: [%s]%s, verbs: [%s]}",
			strings.Join(r.APIGroups, ", "), strings.Join(r.Resources, ", "), names, strings.Join(r.Verbs, ", ")))
	}
	return fmt.Sprintf("this process may not %s leases.coordination.k8s.io %q in namespace %q: add to its Role there the rules [%s]",
		strings.Join(missing, ", "), name, namespace, strings.Join(rules, ", "))
}
