// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

func TestRole(t *testing.T) {
	r := Role("operators", "freshwatch-events")
	want := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}}}
	if diff := cmp.Diff(want, r.Rules); diff != "" || r.Namespace != "operators" || r.Name != "freshwatch-events" || r.Kind != "Role" {
		t.Errorf("%+v (-want +got):\n%s", r, diff)
	}
}
