// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/apiservers"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// realCluster is two kube-apiservers on one etcd, with a proxy of its own in
// between for each.
type realCluster struct {
	*controlplane.ControlPlane
	etcd   []*faultproxy.Etcd
	second controlplane.Component
	admin  kubernetes.Interface
	cfg    *rest.Config // of a user without rights
}

func newRealCluster(t *testing.T) *realCluster {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real kube-apiserver, which -short leaves out")
	}
	c := &realCluster{}
	t.Cleanup(func() {
		var errs []error
		if c.ControlPlane != nil {
			errs = append(errs, c.Stop())
		}
		for _, proxy := range c.etcd {
			errs = append(errs, proxy.Close())
		}
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
	})
	var err error
	c.ControlPlane, err = controlplane.Start(t.Context(), controlplane.Options{WrapEtcd: func(_ context.Context, url string) (string, error) {
		proxy, err := faultproxy.NewEtcd(url, faultproxy.EtcdOptions{})
		if err != nil {
			return "", err
		}
		c.etcd = append(c.etcd, proxy)
		return proxy.URL(), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	second, config, err := c.AddAPIServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.second = second
	client, err := rest.HTTPClientFor(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	if c.admin, err = kubernetes.NewForConfigAndClient(c.Config(), client); err != nil {
		t.Fatal(err)
	}
	if c.cfg, err = c.User("operator"); err != nil {
		t.Fatal(err)
	}
	c.enter(t, c.cfg.Host, config.Host)
	return c
}

// enter names two servers in the EndpointSlice, by addresses that it may hold, since
// those of this machine's loopback it may not. The config's Dial leads there.
func (c *realCluster) enter(t *testing.T, first, second string) {
	t.Helper()
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: "kubernetes"},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: new("https"), Port: new(int32(6443))}},
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}, {Addresses: []string{"10.0.0.2"}}},
	}
	if _, err := c.admin.DiscoveryV1().EndpointSlices("default").Create(t.Context(), slice, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	hosts := map[string]string{}
	for address, server := range map[string]string{one: first, two: second} {
		u, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		hosts[address] = u.Host
	}
	c.cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if to, ok := hosts[address]; ok {
			address = to
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
}

// grant gives the user the right that an error says it lacks.
func (c *realCluster) grant(t *testing.T, err error) {
	t.Helper()
	missing, ok := errors.AsType[*apiservers.RightsError](err)
	if !ok {
		t.Fatalf("got %v, want a right that is missing", err)
	}
	t.Log(missing)
	name := metav1.ObjectMeta{GenerateName: "operator-"}
	user := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "operator"}}
	if missing.Namespace != "" {
		role, err := c.admin.RbacV1().Roles(missing.Namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: name, Rules: []rbacv1.PolicyRule{missing.Rule}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		binding := &rbacv1.RoleBinding{ObjectMeta: name, Subjects: user, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name}}
		if _, err := c.admin.RbacV1().RoleBindings(missing.Namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		return
	}
	role, err := c.admin.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: name, Rules: []rbacv1.PolicyRule{missing.Rule}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: name, Subjects: user, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name}}
	if _, err := c.admin.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// write returns the resourceVersion of a new ConfigMap.
func (c *realCluster) write(t *testing.T) string {
	t.Helper()
	cm, err := c.admin.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "cm-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return cm.ResourceVersion
}

// reached says whether a watch cache is at rv or past it.
func reached(t *testing.T, cache freshness.ServerCache, rv string) bool {
	t.Helper()
	if cache.Err != nil {
		t.Fatalf("%s: %v", cache.Server, cache.Err)
	}
	there, err := strconv.ParseUint(cache.ResourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := strconv.ParseUint(rv, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return there >= wanted
}

// TestTwoRealServers goes from a user without any right to the name of the server
// that is frozen.
func TestTwoRealServers(t *testing.T) {
	c := newRealCluster(t)
	s := newServers(t, c.cfg, apiservers.Options{Timeout: 20 * time.Second}) // of a busy machine

	_, err := s.WatchCaches(t.Context(), configMaps, "")
	c.grant(t, err)
	// The authorizers of both learn of it by a watch each.
	freshtest.Eventually(t, func() bool {
		_, err := s.WatchCaches(t.Context(), configMaps, "")
		return err == nil
	}, "the rule that the error names does not suffice to find the servers")
	// The last two are quiet: their caches stay behind until they are asked.
	for _, gvr := range []schema.GroupVersionResource{configMaps, namespaces, corev1.SchemeGroupVersion.WithResource("nodes")} {
		caches, err := s.WatchCaches(t.Context(), gvr, "")
		if err != nil {
			t.Fatal(err)
		}
		c.grant(t, caches[1].Err)
		freshtest.Eventually(t, func() bool {
			caches, err = s.WatchCaches(t.Context(), gvr, "")
			return err == nil && len(caches) == 2 && caches[0].Err == nil && caches[1].Err == nil
		}, "the rule that the error names does not suffice to list %s", gvr.Resource)
		rv, begin := c.write(t), time.Now()
		if caches, err = s.WatchCaches(t.Context(), gvr, ""); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s after a write at %s, in %v: %v", gvr.Resource, rv, time.Since(begin), caches)
		for _, cache := range caches {
			if !reached(t, cache, rv) {
				t.Errorf("%s in %s: at %s, behind %s", gvr.Resource, cache.Server, cache.ResourceVersion, rv)
			}
		}
	}

	freeze := c.etcd[1].FreezeWatches("/registry/configmaps/")
	rv, begin := c.write(t), time.Now()
	caches := ask(t, s)
	t.Logf("one frozen, after a write at %s, in %v: %v", rv, time.Since(begin), caches)
	if !reached(t, caches[0], rv) || reached(t, caches[1], rv) || caches[1].Server != two {
		t.Errorf("got %v, want only %s behind %s", caches, two, rv)
	}
	if again := ask(t, s)[1]; again != caches[1] {
		t.Errorf("the frozen server moved from %v to %v", caches[1], again)
	}
	freeze.Lift()
	freshtest.Eventually(t, func() bool { return reached(t, ask(t, s)[1], rv) }, "thawed, it stays behind %s", rv)

	if err := c.Pause(t.Context(), c.second); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Resume(c.second); err != nil {
			t.Error(err)
		}
	}()
	impatient := newServers(t, c.cfg, apiservers.Options{Timeout: 4 * time.Second})
	freshtest.Eventually(t, func() bool {
		caches := ask(t, impatient)
		return caches[0].Err == nil && caches[1].Err != nil && strings.Contains(caches[1].Err.Error(), "no answer within 4")
	}, "a stopped server is not told from one that answers")
}
