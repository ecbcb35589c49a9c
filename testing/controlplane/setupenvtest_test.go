// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestSetupEnvtest(t *testing.T) {
	r := releases()[0]
	pair := []Component{Etcd, APIServer}
	t.Run("not installed", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		if _, err := setupEnvtest(context.Background(), r, pair); !errors.Is(err, errNoSetupEnvtest) {
			t.Errorf("got %v, want %v", err, errNoSetupEnvtest)
		}
	})
	t.Run("asked for more than its archives have", func(t *testing.T) {
		dir := t.TempDir()
		writeScript(t, dir, "setup-envtest", "echo must not run; touch "+dir+"/ran")
		t.Setenv("PATH", dir)
		if _, err := setupEnvtest(context.Background(), r, allComponents()); !errors.Is(err, errNoSetupEnvtest) {
			t.Errorf("got %v, want %v", err, errNoSetupEnvtest)
		}
	})
	t.Run("found", func(t *testing.T) {
		dir := t.TempDir()
		writeScript(t, dir, "setup-envtest", `[ "$*" = "use 1.37.x --print path" ] && echo /some/where`)
		t.Setenv("PATH", dir)
		got, err := setupEnvtest(context.Background(), r, pair)
		if err != nil || got != "/some/where" {
			t.Errorf("got %q, %v, want /some/where", got, err)
		}
	})
	t.Run("site not reachable", func(t *testing.T) {
		dir := t.TempDir()
		writeScript(t, dir, "setup-envtest", "echo noise >&2; echo 'dial tcp: no such host' >&2; exit 1")
		t.Setenv("PATH", dir)
		_, err := setupEnvtest(context.Background(), r, pair)
		wantError(t, err, "exit status 1", "dial tcp: no such host")
	})
	t.Run("no answer", func(t *testing.T) {
		dir := t.TempDir()
		writeScript(t, dir, "setup-envtest", "/bin/sleep 600")
		t.Setenv("PATH", dir)
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		_, err := setupEnvtest(ctx, r, pair)
		wantError(t, err, "no answer")
	})
}
