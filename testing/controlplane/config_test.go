// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/client-go/tools/clientcmd"
)

// silent is a control plane that does not run.
func silent() *ControlPlane {
	return &ControlPlane{
		apiServerURL: "https://127.0.0.1:6443",
		pki:          &pki{caPEM: []byte("ca")},
		tokens:       map[string]string{adminUser: "secret"},
	}
}

func TestConfig(t *testing.T) {
	cfg := silent().Config()
	if cfg.Host != "https://127.0.0.1:6443" || cfg.BearerToken != "secret" || string(cfg.CAData) != "ca" || cfg.QPS >= 0 {
		t.Errorf("got %v", cfg)
	}
	if cfg.Insecure || len(cfg.CertData) > 0 || cfg.CertFile != "" {
		t.Errorf("want a verified server and no client certificate, got %v", cfg)
	}
}

func TestUser(t *testing.T) {
	c := silent()
	groups := []string{"dev", "ops"}
	cfg, err := c.User("jane", groups...)
	if err != nil {
		t.Fatal(err)
	}
	groups[0] = "changed"
	if cfg.Impersonate.UserName != "jane" || cmp.Diff([]string{"dev", "ops"}, cfg.Impersonate.Groups) != "" {
		t.Errorf("got %+v", cfg.Impersonate)
	}
	_, err = c.User("")
	wantError(t, err, "User: name is empty")
}

func TestServiceAccountExpiryIsValidated(t *testing.T) {
	_, err := silent().ServiceAccount(context.Background(), "default", "sa", 9*time.Minute)
	wantError(t, err, "expiry is 9m0s", "at least 10m0s")
}

func TestWriteKubeconfig(t *testing.T) {
	cfg, err := silent().User("jane", "dev")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := WriteKubeconfig(path, cfg); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	got, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	cfg.QPS = 0 // A kubeconfig cannot say it.
	if diff := cmp.Diff(cfg, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}

	wantError(t, WriteKubeconfig(filepath.Join(path, "below"), cfg), "controlplane: kubeconfig", "not a directory")
}
