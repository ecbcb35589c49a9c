// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controlplane

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAddAPIServer writes through one of two kube-apiservers and reads through the other, while one of them is stopped and after it was
// killed.
func TestAddAPIServer(t *testing.T) {
	var wrapped []string
	c := startReal(t, Options{WrapEtcd: func(_ context.Context, etcdURL string) (string, error) {
		wrapped = append(wrapped, etcdURL)
		return etcdURL, nil
	}})
	name, cfg, err := c.AddAPIServer(realContext(t))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{c.EtcdURL(), c.EtcdURL()}; !slices.Equal(wrapped, want) {
		t.Errorf("WrapEtcd was called with %q, want %q", wrapped, want)
	}
	if cfg.Host == c.APIServerURL() || c.LogFile(name) == c.LogFile(APIServer) {
		t.Errorf("the second server is at %s and logs to %s, as the first does", cfg.Host, c.LogFile(name))
	}
	first, second := clientFor(t, c.Config()), clientFor(t, cfg)
	seesWhatOtherWrote := func(object string) {
		t.Helper()
		if err := createConfigMap(realContext(t), first, object); err != nil {
			t.Fatal(err)
		}
		if _, err := second.CoreV1().ConfigMaps("default").Get(realContext(t), object, metav1.GetOptions{}); err != nil {
			t.Errorf("through the other server: %v", err)
		}
	}
	seesWhatOtherWrote("by-the-first")

	if err := c.Pause(realContext(t), name); err != nil {
		t.Fatal(err)
	}
	if err := createConfigMap(realContext(t), first, "other-stopped"); err != nil {
		t.Errorf("the first server does not work while the second is stopped: %v", err)
	}
	if err := c.Restart(realContext(t), name); err != nil {
		t.Fatal(err)
	}
	seesWhatOtherWrote("after-the-restart")
}

func TestNextAPIServer(t *testing.T) {
	c := &ControlPlane{components: []*component{{name: Etcd}, {name: APIServer}}}
	for _, want := range []Component{"kube-apiserver-2", "kube-apiserver-3"} {
		got := c.nextAPIServer()
		if got != want || got.program() != APIServer {
			t.Errorf("the next is %s, which runs %s, want %s", got, got.program(), want)
		}
		c.components = append(c.components, &component{name: got})
	}
	for _, name := range allComponents() {
		if name.program() != name {
			t.Errorf("%s runs %s", name, name.program())
		}
	}
}
