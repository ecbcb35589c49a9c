// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers

import (
	"fmt"
	"strconv"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// RightsError says which right the program lacks.
type RightsError struct {
	// Namespace is that of the Role that should have the rule; empty: it belongs in
	// a ClusterRole.
	Namespace string
	// Rule is what to add to it.
	Rule rbacv1.PolicyRule
	// Err is the API server's answer.
	Err error
}

// Error names the role and the rule, as YAML of one line.
func (e *RightsError) Error() string {
	role := "a ClusterRole"
	if e.Namespace != "" {
		role = "a Role in namespace " + e.Namespace
	}
	return fmt.Sprintf("add %s to %s: %v", inline(e.Rule), role, e.Err)
}

// Unwrap returns Err, for which k8s.io/apimachinery's IsForbidden holds.
func (e *RightsError) Unwrap() error { return e.Err }

// inline writes the fields that the rules here have.
func inline(rule rbacv1.PolicyRule) string {
	var fields []string
	for _, field := range []struct {
		name   string
		values []string
	}{
		{"apiGroups", rule.APIGroups},
		{"resources", rule.Resources},
		{"resourceNames", rule.ResourceNames},
		{"verbs", rule.Verbs},
	} {
		if len(field.values) == 0 {
			continue
		}
		quoted := make([]string, len(field.values))
		for i, value := range field.values {
			quoted[i] = strconv.Quote(value)
		}
		fields = append(fields, field.name+": ["+strings.Join(quoted, ", ")+"]")
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// mayRead is about the addresses.
func mayRead(err error) error {
	return &RightsError{Namespace: "default", Err: err, Rule: rbacv1.PolicyRule{
		APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, ResourceNames: []string{"kubernetes"}, Verbs: []string{"get"},
	}}
}

// mayList is about a kind, in all namespaces if namespace is empty.
func mayList(gvr schema.GroupVersionResource, namespace string, err error) error {
	return &RightsError{Namespace: namespace, Err: err, Rule: rbacv1.PolicyRule{
		APIGroups: []string{gvr.Group}, Resources: []string{gvr.Resource}, Verbs: []string{"list"},
	}}
}
