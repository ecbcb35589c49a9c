// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controlplane

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRealKine has kine where TestRealControlPlane has etcd.
func TestRealKine(t *testing.T) {
	var wrapped string
	c := startReal(t, Options{
		Datastore: Kine,
		Dir:       filepath.Join(t.TempDir(), "all of this 100%? #is a name"), // and no part of a URL
		EtcdArgs:  []string{"--slow-sql-threshold=1ns"},                       // log all of them
		WrapEtcd: func(_ context.Context, etcdURL string) (string, error) {
			wrapped = forward(t, strings.TrimPrefix(etcdURL, "http://"))
			return "http://" + wrapped, nil
		},
	})
	admin := clientFor(t, c.Config())
	if err := createConfigMap(realContext(t), admin, "first"); err != nil {
		t.Fatal(err)
	}

	t.Run("is where the data are", func(t *testing.T) {
		if _, err := os.Stat(filepath.Join(c.opts.Dir, "kine", "state.db")); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(c.LogFile(Etcd)); !os.IsNotExist(err) {
			t.Errorf("etcd's log: %v, want none", err)
		}
		log, err := os.ReadFile(c.LogFile(Kine))
		if err != nil || !strings.Contains(string(log), "Slow SQL") {
			t.Errorf("kine's log does not have what its flag asks for, %v", err)
		}
	})
	t.Run("behind a proxy", func(t *testing.T) {
		if wrapped == "" || "http://"+wrapped == c.EtcdURL() {
			t.Errorf("wrapped %q, kine %q", wrapped, c.EtcdURL())
		}
	})
	t.Run("pause", func(t *testing.T) { testRealPause(t, c, Kine, admin) })
	t.Run("restart", func(t *testing.T) {
		if err := c.Restart(realContext(t), Kine); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the configmap is back", func() bool {
			_, err := admin.CoreV1().ConfigMaps("default").Get(realContext(t), "first", metav1.GetOptions{})
			return err == nil
		})
	})
	t.Run("rewind", func(t *testing.T) { testRealRewind(t, c, admin) })
	t.Run("etcd does not run", func(t *testing.T) {
		wantError(t, c.Pause(realContext(t), Etcd), "pause etcd: not started")
	})
}
