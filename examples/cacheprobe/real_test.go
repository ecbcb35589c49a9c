// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// cluster is a real control plane with a proxy in front of etcd.
type cluster struct {
	*controlplane.ControlPlane
	etcd  *faultproxy.Etcd
	admin kubernetes.Interface
}

func newCluster(t *testing.T) cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real kube-apiserver, which -short leaves out")
	}
	var c cluster
	var err error
	c.ControlPlane, err = controlplane.Start(t.Context(), controlplane.Options{
		WrapEtcd: func(_ context.Context, url string) (string, error) {
			if c.etcd, err = faultproxy.NewEtcd(url, faultproxy.EtcdOptions{}); err != nil {
				return "", err
			}
			return c.etcd.URL(), nil
		},
	})
	t.Cleanup(func() {
		var errs []error
		if c.ControlPlane != nil {
			errs = append(errs, c.Stop())
		}
		if c.etcd != nil {
			errs = append(errs, c.etcd.Close())
		}
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	if c.admin, err = kubernetes.NewForConfigAndClient(c.Config(), client); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"settings", "other"} {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		if _, err := c.admin.CoreV1().ConfigMaps("default").Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// edit changes a ConfigMap.
func (c cluster) edit(t *testing.T) {
	t.Helper()
	if err := c.patch(t); err != nil {
		t.Fatal(err)
	}
}

// keepEditing changes it again and again.
func (c cluster) keepEditing(t *testing.T) (stop func()) {
	t.Helper()
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			if err := c.patch(t); err != nil {
				t.Error(err)
			}
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

func (c cluster) patch(t *testing.T) error {
	t.Helper()
	patch := []byte(`{"data":{"at":"` + time.Now().Format(time.RFC3339Nano) + `"}}`)
	_, err := c.admin.CoreV1().ConfigMaps("default").Patch(t.Context(), "settings", types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// probe runs the whole command.
func (c cluster) probe(t *testing.T, args ...string) (status int, rep report, said string) {
	t.Helper()
	return probeAs(t, c.Kubeconfig(), args...)
}

func probeAs(t *testing.T, kubeconfig string, args ...string) (status int, rep report, said string) {
	t.Helper()
	var table, stderr bytes.Buffer
	args = append([]string{"-kubeconfig", kubeconfig, "-o", "json"}, args...)
	begin := time.Now()
	var stdout bytes.Buffer
	status = run(t.Context(), args, &stdout, &stderr)
	if stdout.Len() > 0 {
		if err := json.Unmarshal(stdout.Bytes(), &rep); err != nil {
			t.Fatal(err)
		}
		if err := rep.write(&table, false); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%v: exit %d after %v\n%s%s", args[4:], status, time.Since(begin).Round(time.Millisecond), table.String(), stderr.String())
	return status, rep, stderr.String()
}

func (c cluster) want(t *testing.T, want int, args ...string) report {
	t.Helper()
	status, rep, said := c.probe(t, args...)
	if status != want {
		t.Errorf("%v: exit %d, want %d; %+v %s", args, status, want, rep, said)
	}
	return rep
}

// eventually waits until the command's exit status is again what it should be.
func (c cluster) eventually(t *testing.T, want int, args ...string) {
	t.Helper()
	for range 20 {
		if status, _, _ := c.probe(t, args...); status == want {
			return
		}
	}
	t.Fatalf("%v: exit never %d", args, want)
}

func TestRealServer(t *testing.T) {
	c := newCluster(t)
	// The lease of the API server itself comes within seconds of its start.
	c.eventually(t, exitHealthy)

	t.Run("healthy", func(t *testing.T) {
		c.edit(t)
		c.want(t, exitHealthy)
		c.want(t, exitHealthy, "-resource", "configmaps,nodes,leases.coordination.k8s.io,customresourcedefinitions.v1.apiextensions.k8s.io")
		c.want(t, exitHealthy, "-resource", "configmaps", "-namespace", "default", "-object", "default/settings")
		address, err := url.Parse(c.APIServerURL())
		if err != nil {
			t.Fatal(err)
		}
		if rep := c.want(t, exitHealthy, "-server", address.Host); rep.Checks[0].Server != address.Host {
			t.Errorf("asked %s, want %s", rep.Checks[0].Server, address.Host)
		}
	})

	t.Run("one kind frozen", func(t *testing.T) {
		fault := c.etcd.FreezeWatches("/registry/configmaps/")
		defer fault.Lift()
		c.edit(t)
		c.want(t, exitFrozen, "-resource", "configmaps", "-interval", "2s")
		c.want(t, exitFrozen, "-resource", "configmaps", "-object", "default/settings", "-samples", "2", "-interval", "2s")
		// The other kinds are not.
		rep := c.want(t, exitFrozen, "-resource", "configmaps,secrets,leases", "-samples", "2", "-interval", "2s")
		if rep.Checks[1].Verdict != healthy || rep.Checks[2].Verdict != healthy {
			t.Errorf("secrets %s and leases %s, want both healthy", rep.Checks[1].Verdict, rep.Checks[2].Verdict)
		}
		c.want(t, exitHealthy)
		fault.Lift()
		c.eventually(t, exitHealthy, "-resource", "configmaps", "-samples", "1")
	})

	t.Run("one quiet kind frozen", func(t *testing.T) {
		defer c.etcd.FreezeWatches("/registry/secrets/").Lift()
		c.edit(t) // something else is written
		rep := c.want(t, exitFrozen, "-resource", "secrets", "-interval", "2s")
		if !strings.Contains(rep.Checks[0].Reason, "quiet kind keeps up") {
			t.Errorf("because %q", rep.Checks[0].Reason)
		}
	})

	t.Run("progress late", func(t *testing.T) {
		fault := c.etcd.Delay("", 5*time.Second)
		defer fault.Lift()
		stop := c.keepEditing(t) // where nothing is written, late progress is soon enough
		rep := c.want(t, exitHealthy, "-resource", "configmaps,leases,secrets", "-interval", "5s")
		stop()
		if rep.Checks[0].Verdict != late {
			t.Errorf("configmaps %s, want %s", rep.Checks[0].Verdict, late)
		}
		fault.Lift()
		// What is under way keeps its delay, and would move the next fault's cache.
		c.eventually(t, exitHealthy, "-resource", "configmaps,leases,secrets", "-samples", "1")
	})

	t.Run("everything frozen", func(t *testing.T) {
		fault := c.etcd.FreezeWatches("")
		defer fault.Lift()
		out := filepath.Join(t.TempDir(), "out")
		lock := filepath.Join(t.TempDir(), "lock")
		c.edit(t) // or nothing might have been missed yet
		rep := c.want(t, exitFrozen, "-on-frozen", "echo $FROZEN_SERVERS > "+out, "-lock", lock, "-jitter", "1s", "-interval", "5s")
		if text, err := os.ReadFile(out); err != nil || strings.TrimSpace(string(text)) != rep.Checks[0].Server {
			t.Errorf("the command wrote %q, %v, want %q", text, err, rep.Checks[0].Server)
		}
		fault.Lift()
		c.eventually(t, exitHealthy, "-samples", "1")
	})

	t.Run("least rights", func(t *testing.T) {
		cfg, err := c.User("probe")
		if err != nil {
			t.Fatal(err)
		}
		kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
		if err := controlplane.WriteKubeconfig(kubeconfig, cfg); err != nil {
			t.Fatal(err)
		}
		if status, _, _ := probeAs(t, kubeconfig); status != exitUnknown {
			t.Errorf("without rights: exit %d, want %d", status, exitUnknown)
		}
		c.grant(t, "probe")
		freshtest.Eventually(t, func() bool {
			status, _, _ := probeAs(t, kubeconfig, "-samples", "1")
			return status == exitHealthy
		}, "the documented rights do not suffice")
		// They cover the addresses too, of which there are none here.
		if status, _, said := probeAs(t, kubeconfig, "-all"); status != exitUnknown || !strings.Contains(said, "not found") {
			t.Errorf("-all: exit %d and %q, want %d and not found", status, said, exitUnknown)
		}
		fault := c.etcd.FreezeWatches("/registry/leases/")
		defer fault.Lift()
		c.edit(t)
		if status, _, _ := probeAs(t, kubeconfig, "-interval", "5s"); status != exitFrozen {
			t.Errorf("frozen: exit %d, want %d", status, exitFrozen)
		}
	})

	t.Run("an event lost", func(t *testing.T) {
		defer c.etcd.DropEvents("/registry/configmaps/", 1).Lift()
		c.edit(t)
		rep := c.want(t, exitUnknown, "-resource", "configmaps", "-object", "default/settings")
		if !strings.Contains(rep.Checks[0].Reason, "an event was lost") {
			t.Errorf("because %q", rep.Checks[0].Reason)
		}
	})

	t.Run("server that hangs", func(t *testing.T) {
		if err := c.Pause(t.Context(), controlplane.APIServer); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.Resume(controlplane.APIServer); err != nil {
				t.Error(err)
			}
		}()
		c.want(t, exitUnreachable, "-samples", "2", "-interval", "1s", "-timeout", "4s")
	})

	t.Run("datastore that hangs", func(t *testing.T) {
		if err := c.Pause(t.Context(), controlplane.Etcd); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.Resume(controlplane.Etcd); err != nil {
				t.Error(err)
			}
		}()
		c.want(t, exitUnreachable, "-samples", "2", "-interval", "1s", "-timeout", "4s")
	})
}

// grant gives a user the rights that the documentation names.
func (c cluster) grant(t *testing.T, user string) {
	t.Helper()
	doc, err := os.ReadFile("../../docs/cacheprobe.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(doc), "```yaml\n")
	manifest, _, closed := strings.Cut(text, "```")
	if !found || !closed {
		t.Fatal("docs/cacheprobe.md has no YAML")
	}
	subject := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}}
	for part := range strings.SplitSeq(manifest, "\n---\n") {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(part), &kind); err != nil {
			t.Fatal(err)
		}
		switch kind.Kind {
		case "Role":
			var role rbacv1.Role
			err = yaml.UnmarshalStrict([]byte(part), &role)
			if err == nil {
				_, err = c.admin.RbacV1().Roles(role.Namespace).Create(t.Context(), &role, metav1.CreateOptions{})
			}
		case "RoleBinding":
			var binding rbacv1.RoleBinding
			err = yaml.UnmarshalStrict([]byte(part), &binding)
			if err == nil {
				binding.Subjects = subject
				_, err = c.admin.RbacV1().RoleBindings(binding.Namespace).Create(t.Context(), &binding, metav1.CreateOptions{})
			}
		case "ClusterRole":
			var role rbacv1.ClusterRole
			err = yaml.UnmarshalStrict([]byte(part), &role)
			if err == nil {
				_, err = c.admin.RbacV1().ClusterRoles().Create(t.Context(), &role, metav1.CreateOptions{})
			}
		case "ClusterRoleBinding":
			var binding rbacv1.ClusterRoleBinding
			err = yaml.UnmarshalStrict([]byte(part), &binding)
			if err == nil {
				binding.Subjects = subject
				_, err = c.admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &binding, metav1.CreateOptions{})
			}
		case "ServiceAccount", "Namespace":
		default:
			t.Errorf("docs/cacheprobe.md has a %q that this test does not know", kind.Kind)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
