// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controlplane

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// TestRealOptions starts everything, with every option set.
func TestRealOptions(t *testing.T) {
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	var wrapped string
	c := startReal(t, Options{
		Version:           DefaultVersion,
		ControllerManager: true,
		Scheduler:         true,
		Dir:               t.TempDir(),
		APIServerPort:     port,
		APIServerArgs:     []string{"--profiling=false"},
		EtcdArgs:          []string{"--log-level=info"},
		WrapEtcd: func(_ context.Context, etcdURL string) (string, error) {
			wrapped = forward(t, strings.TrimPrefix(etcdURL, "http://"))
			return "http://" + wrapped, nil
		},
	})
	admin := clientFor(t, c.Config())

	t.Run("port", func(t *testing.T) {
		if want := "https://" + loopback(port); c.APIServerURL() != want {
			t.Errorf("server at %s, want %s", c.APIServerURL(), want)
		}
		_, err := Start(context.Background(), Options{APIServerPort: port})
		wantError(t, err, "Options.APIServerPort", "already in use")
	})
	t.Run("datastore behind a proxy", func(t *testing.T) {
		if wrapped == "" || "http://"+wrapped == c.EtcdURL() {
			t.Errorf("wrapped %q, etcd %q", wrapped, c.EtcdURL())
		}
	})
	t.Run("flags", func(t *testing.T) {
		err := admin.CoreV1().RESTClient().Get().AbsPath("/debug/pprof/").Do(realContext(t)).Error()
		if !apierrors.IsNotFound(err) {
			t.Errorf("profiling, switched off, answers %v, want not found", err)
		}
		log, err := os.ReadFile(c.LogFile(Etcd))
		if err != nil || !strings.Contains(string(log), `"level":"info"`) {
			t.Errorf("etcd's log has no info line, %v", err)
		}
	})
	t.Run("controllers and scheduler at work", func(t *testing.T) { testRealDeployment(t, admin) })
	t.Run("rewind with all components", func(t *testing.T) {
		checkpoint, err := c.Checkpoint(realContext(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Rewind(realContext(t), checkpoint); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a directory that was asked for stays", func(t *testing.T) {
		if err := c.Stop(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(c.LogFile(Scheduler)); err != nil {
			t.Error(err)
		}
	})
}

// forward listens on a free port and passes every connection on to target, until the test ends.
func forward(t *testing.T, target string) string {
	t.Helper()
	listener, err := net.Listen("tcp", loopback(0))
	if err != nil {
		t.Fatal(err)
	}
	f := &forwarder{listener: listener, target: target}
	f.running.Go(f.accept)
	t.Cleanup(f.close)
	return listener.Addr().String()
}

// testRealDeployment creates a Deployment and waits until the controller manager has made its pods and the scheduler has found no node.
func testRealDeployment(t *testing.T, admin kubernetes.Interface) {
	ctx := realContext(t)
	labels := map[string]string{"app": "demo"}
	replicas := int32(2)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "demo"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}},
			},
		},
	}
	if _, err := admin.AppsV1().Deployments("default").Create(ctx, deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "two pods that the scheduler has looked at", func() bool {
		pods, err := admin.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=demo"})
		if err != nil {
			t.Fatal(err)
		}
		judged := 0
		for _, pod := range pods.Items {
			if pod.Spec.ServiceAccountName != "default" {
				t.Errorf("pod %s has ServiceAccount %q, want default", pod.Name, pod.Spec.ServiceAccountName)
			}
			for _, condition := range pod.Status.Conditions {
				if condition.Type == corev1.PodScheduled && strings.Contains(condition.Message, "no nodes available") {
					judged++
				}
			}
		}
		return judged == int(replicas)
	})
}
