// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package kubebuilder

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/freshwatch/freshwatch/freshevents"
	"github.com/freshwatch/freshwatch/watchcanary"
)

const (
	scraper  = "scraper"  // may get metrics, by the ClusterRole of the scaffold
	operated = "operated" // may get the page, by the one that the documentation shows

	lease = "35c2b938.example.com-canary" // LeaderElectionID in guestbook/cmd/main.go, and what is added to it
	debug = "/debug/freshwatch"
)

// wantRights fails unless the Role that the scaffold has for leader election is enough
// for Events and for the Lease of the canary, on which restarts are noted too.
func (c *cluster) wantRights(t *testing.T) {
	t.Helper()
	if denied := c.denied(t, c.account, neededRules()); len(denied) != 0 {
		t.Errorf("%s may not %s", c.account, strings.Join(denied, ", "))
	}
	if denied := c.denied(t, "somebody", neededRules()); len(denied) == 0 {
		t.Error("everybody may: the test shows nothing")
	}
}

// neededRules is what guards need beside what the operator needs.
func neededRules() []rbacv1.PolicyRule {
	return slices.Concat(watchcanary.Role("", lease).Rules, freshevents.Role("", "events").Rules)
}

// The documentation has these rules for who has no such Role.
func TestRulesAreDocumented(t *testing.T) {
	var documented []rbacv1.PolicyRule
	if err := yaml.UnmarshalStrict([]byte(fenced(readFile(t, documentation), "yaml", 1)), &documented); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(neededRules(), documented); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

// denied returns what an account in the operator's namespace may not do of what rules
// give.
func (c *cluster) denied(t *testing.T, account string, rules []rbacv1.PolicyRule) (denied []string) {
	t.Helper()
	for _, r := range rules {
		for _, verb := range r.Verbs {
			ask := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User: "system:serviceaccount:" + c.namespace + ":" + account,
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Namespace: c.namespace, Verb: verb, Group: r.APIGroups[0], Resource: r.Resources[0], Name: strings.Join(r.ResourceNames, ""),
				},
			}}
			if err := c.admin.Create(t.Context(), ask); err != nil {
				t.Fatal(err)
			}
			if !ask.Status.Allowed {
				denied = append(denied, verb+" "+r.Resources[0])
			}
		}
	}
	return denied
}

// grantScrapers gives one ServiceAccount the metrics and another one the page.
func (c *cluster) grantScrapers(t *testing.T) {
	t.Helper()
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict([]byte(fenced(readFile(t, documentation), "yaml", 0)), &role); err != nil {
		t.Fatal(err)
	}
	if err := c.admin.Create(t.Context(), &role); err != nil {
		t.Fatal(err)
	}
	for account, role := range map[string]string{scraper: "guestbook-metrics-reader", operated: role.Name} {
		if err := c.admin.Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: account},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: c.namespace, Name: account}},
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// wantPage asks for the page as nobody, as somebody, and as somebody who may.
func (c *cluster) wantPage(t *testing.T, stock, guarded *operator) {
	t.Helper()
	for _, tt := range []struct {
		name, token string
		of          *operator
		want        int
		has         string
	}{
		{"nobody", "", guarded, http.StatusUnauthorized, ""},
		{"who may scrape", guarded.scraper, guarded, http.StatusForbidden, ""},
		{"who may", c.token(t, operated), guarded, http.StatusOK, "guestbooks"},
		{"who may, of the stock operator", c.token(t, operated), stock, http.StatusNotFound, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, body := tt.of.page(t, debug, tt.token)
			if status != tt.want || !strings.Contains(body, tt.has) {
				t.Errorf("%d %s, want %d and %q in it", status, body, tt.want, tt.has)
			}
		})
	}
}
