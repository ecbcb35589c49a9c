// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controlplane

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// realTimeout bounds what a real server is asked for, on a machine that may be compiling at the same time.
const realTimeout = time.Minute

func realContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), realTimeout)
	t.Cleanup(cancel)
	return ctx
}

// startReal starts a control plane and stops it with the test.
func startReal(t *testing.T, opts Options) *ControlPlane {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real control plane")
	}
	c, err := Start(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// clientFor returns a client of its own connections, which end with the test.
func clientFor(t *testing.T, cfg *rest.Config) *kubernetes.Clientset {
	t.Helper()
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(httpClient.CloseIdleConnections)
	client, err := kubernetes.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func createConfigMap(ctx context.Context, client kubernetes.Interface, name string) error {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := client.CoreV1().ConfigMaps("default").Create(ctx, object, metav1.CreateOptions{})
	return err
}

func TestRealControlPlane(t *testing.T) {
	c := startReal(t, Options{})
	admin := clientFor(t, c.Config())

	t.Run("reads and writes", func(t *testing.T) {
		ctx := realContext(t)
		if err := createConfigMap(ctx, admin, "first"); err != nil {
			t.Fatal(err)
		}
		if _, err := admin.CoreV1().ConfigMaps("default").Get(ctx, "first", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("is of the default version", func(t *testing.T) {
		version, err := admin.Discovery().ServerVersion()
		if err != nil {
			t.Fatal(err)
		}
		if os.Getenv(assetsVariable) == "" && !strings.HasPrefix(version.GitVersion, "v"+DefaultVersion+".") {
			t.Errorf("server is %s, want v%s.*", version.GitVersion, DefaultVersion)
		}
	})
	t.Run("kubeconfig file", func(t *testing.T) {
		cfg, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
		if err != nil {
			t.Fatal(err)
		}
		if got := whoIs(t, cfg); got.Username != adminUser {
			t.Errorf("is %q, want %q", got.Username, adminUser)
		}
	})
	t.Run("pods need no ServiceAccount without a controller manager", func(t *testing.T) {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "lonely"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}},
		}
		if _, err := admin.CoreV1().Pods("default").Create(realContext(t), pod, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("user", func(t *testing.T) { testRealUser(t, c, admin) })
	t.Run("service account", func(t *testing.T) { testRealServiceAccount(t, c, admin) })
	t.Run("pause etcd", func(t *testing.T) { testRealPause(t, c, Etcd, admin) })
	t.Run("restart", func(t *testing.T) {
		for _, name := range []Component{APIServer, Etcd} {
			if err := c.Restart(realContext(t), name); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the configmap is back after a restart of "+string(name), func() bool {
				_, err := admin.CoreV1().ConfigMaps("default").Get(realContext(t), "first", metav1.GetOptions{})
				return err == nil
			})
		}
	})
	t.Run("rewind", func(t *testing.T) { testRealRewind(t, c, admin) })
	t.Run("stop", func(t *testing.T) { testRealStop(t, c) })
}

// whoIs asks the server who it takes the holder of a configuration for.
func whoIs(t *testing.T, cfg *rest.Config) authenticationv1.UserInfo {
	t.Helper()
	review, err := clientFor(t, cfg).AuthenticationV1().SelfSubjectReviews().
		Create(realContext(t), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return review.Status.UserInfo
}

func testRealUser(t *testing.T, c *ControlPlane, admin kubernetes.Interface) {
	ctx := realContext(t)
	cfg, err := c.User("jane", "dev")
	if err != nil {
		t.Fatal(err)
	}
	if got := whoIs(t, cfg); got.Username != "jane" || strings.Join(got.Groups, " ") != "dev system:authenticated" {
		t.Errorf("is %q in groups %q", got.Username, got.Groups)
	}
	jane := clientFor(t, cfg)
	if err := createConfigMap(ctx, jane, "of-jane"); !apierrors.IsForbidden(err) {
		t.Errorf("without a role: got %v, want forbidden", err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "dev"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "dev"}},
	}
	if _, err := admin.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server's authorizer has seen the binding", func() bool {
		return !apierrors.IsForbidden(createConfigMap(ctx, jane, "of-jane"))
	})
}

func testRealServiceAccount(t *testing.T, c *ControlPlane, admin kubernetes.Interface) {
	ctx := realContext(t)
	for range 2 { // Created, then found.
		cfg, err := c.ServiceAccount(ctx, "default", "robot", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := whoIs(t, cfg).Username, "system:serviceaccount:default:robot"; got != want {
			t.Errorf("is %q, want %q", got, want)
		}
	}
	cfg, err := c.ServiceAccount(ctx, "default", "robot", MinTokenExpiry)
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.CoreV1().ServiceAccounts("default").Delete(ctx, "robot", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	robot := clientFor(t, cfg)
	eventually(t, "the token of a deleted ServiceAccount is refused", func() bool {
		return apierrors.IsUnauthorized(createConfigMap(ctx, robot, "of-robot"))
	})
	_, err = c.ServiceAccount(ctx, "absent", "robot", 0)
	wantError(t, err, "ServiceAccount absent/robot", "not found")
}

func testRealPause(t *testing.T, c *ControlPlane, datastore Component, admin kubernetes.Interface) {
	if err := c.Pause(realContext(t), datastore); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	if err := createConfigMap(ctx, admin, "while-paused"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a write while it is paused: %v, want %v", err, context.DeadlineExceeded)
	}
	if err := c.Resume(datastore); err != nil {
		t.Fatal(err)
	}
	if err := createConfigMap(realContext(t), admin, "after-resume"); err != nil {
		t.Errorf("a write after it was resumed: %v", err)
	}
}

func testRealStop(t *testing.T, c *ControlPlane) {
	var pids []int
	var ports []int
	for _, comp := range c.components {
		pids, ports = append(pids, comp.proc.pid), append(ports, comp.port)
	}
	if len(pids) != len(c.opts.components()) {
		t.Fatalf("%d processes, want %d", len(pids), len(c.opts.components()))
	}
	for range 2 {
		if err := c.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range pids {
		if alive(pids[i]) {
			t.Errorf("process %d still runs", pids[i])
		}
		if !portFree(ports[i]) {
			t.Errorf("port %d is still in use", ports[i])
		}
	}
	if _, err := os.Stat(c.dir.path); !os.IsNotExist(err) {
		t.Errorf("state directory: %v, want it gone", err)
	}
}
