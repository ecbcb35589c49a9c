// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
	"github.com/freshwatch/freshwatch/watchcanary"
)

const (
	account  = "operator"     // the ServiceAccount of a deployment's pods
	election = "the-operator" // the Lease of its leader election
	thing    = "thing"        // the ConfigMap that its controller reconciles

	interval  = 5 * time.Second
	failAfter = 3 * interval
	// slack is what a busy machine may add.
	slack = 5 * time.Second
)

// deployment is an operator in a namespace of its own, which reaches the API server
// through proxies of its own.
type deployment struct {
	plane *realplane.Plane
	ns    string
	user  *rest.Config
	api   *faultproxy.API
	tcp   *faultproxy.TCP // in front of api
}

// newDeployment makes all that its pods need, and waits until the API server knows of
// their rights.
func newDeployment(t *testing.T, p *realplane.Plane) *deployment {
	t.Helper()
	d := newDeploymentWithoutRole(t, p)
	d.grant(t, watchcanary.Role(d.ns, watchcanary.DefaultName))
	d.awaitRight(t, "watchcanary's", func(c kubernetes.Interface) error {
		_, err := c.CoordinationV1().Leases(d.ns).List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + watchcanary.DefaultName})
		return err
	})
	return d
}

// newDeploymentWithoutRole leaves out the Role of the canary.
func newDeploymentWithoutRole(t *testing.T, p *realplane.Plane) *deployment {
	t.Helper()
	ns, err := p.Typed.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "operator-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := &deployment{plane: p, ns: ns.Name}
	if d.user, err = p.ServiceAccount(t.Context(), d.ns, account, 0); err != nil {
		t.Fatal(err)
	}
	if d.api, err = faultproxy.NewAPI(p.Config(), faultproxy.APIOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.api.Close() })
	if d.tcp, err = faultproxy.NewTCP(d.api.Addr(), faultproxy.TCPOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.tcp.Close() })

	// The election's Lease is there, so that no right to create one comes with it.
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: election}}
	if _, err := p.Typed.CoordinationV1().Leases(d.ns).Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	d.edit(t, "first")
	d.grant(t, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.ns, Name: "operator"},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
			{APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"}, ResourceNames: []string{election}, Verbs: []string{"get", "update"}},
		},
	})
	d.awaitRight(t, "the operator's", func(c kubernetes.Interface) error {
		_, err := c.CoordinationV1().Leases(d.ns).Get(t.Context(), election, metav1.GetOptions{})
		return err
	})
	return d
}

// grant creates a Role and gives it to the pods.
func (d *deployment) grant(t *testing.T, role *rbacv1.Role) {
	t.Helper()
	rbac := d.plane.Typed.RbacV1()
	if _, err := rbac.Roles(d.ns).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rbac.RoleBindings(d.ns).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: d.ns, Name: account}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// awaitRight waits until the pods' user can do something.
func (d *deployment) awaitRight(t *testing.T, whose string, do func(kubernetes.Interface) error) {
	t.Helper()
	httpClient, err := rest.HTTPClientFor(d.user)
	if err != nil {
		t.Fatal(err)
	}
	defer httpClient.CloseIdleConnections()
	client, err := kubernetes.NewForConfigAndClient(d.user, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	if !poll.Until(t.Context(), patience, func() bool { err = do(client); return err == nil }) {
		t.Fatalf("%s Role is not in force: %v", whose, err)
	}
}

// edit changes the ConfigMap as somebody else, past the proxies.
func (d *deployment) edit(t *testing.T, color string) {
	t.Helper()
	cm := applycorev1.ConfigMap(thing, d.ns).WithData(map[string]string{"color": color})
	if _, err := d.plane.Typed.CoreV1().ConfigMaps(d.ns).Apply(t.Context(), cm, metav1.ApplyOptions{FieldManager: "someone-else"}); err != nil {
		t.Fatal(err)
	}
}

// config is what the pods use.
func (d *deployment) config() *rest.Config {
	cfg := d.api.Config(d.user)
	cfg.Host = "https://" + d.tcp.Addr()
	return cfg
}

// silence kills the watches of these resources that are open, and no later ones: one of
// each, or the test is wrong.
func (d *deployment) silence(t *testing.T, resources ...string) {
	t.Helper()
	for _, r := range resources {
		f := d.api.Inject(faultproxy.Match{Verb: "watch", Resource: r, Namespace: d.ns}, faultproxy.Silence{OnlyOpen: true})
		if f.Hits() != 1 {
			t.Errorf("silenced %d watches of %s, want 1", f.Hits(), r)
		}
	}
}

// refuse breaks all connections and refuses new ones.
func (d *deployment) refuse(t *testing.T) (accept func()) {
	t.Helper()
	refusal := d.tcp.Refuse()
	d.tcp.Reset()
	return refusal.Lift
}
