// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		name, args, want string
	}{
		{"unknown command", "destroy", `unknown command "destroy"`},
		{"argument too many", "build now", `unexpected argument "now"`},
		{"unknown component", "build -components etcd,kubelet", `component "kubelet"`},
		{"unknown version", "run -version 1.2", `Options.Version: "1.2"`},
		{"unknown datastore", "run -datastore mysql", `Options.Datastore is "mysql"`},
		{"impossible port", "run -port 70000", "Options.APIServerPort is 70000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := command(context.Background(), strings.Fields(test.args), io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	var out strings.Builder
	for _, args := range [][]string{{"help"}, nil} {
		out.Reset()
		if err := command(context.Background(), args, &out, io.Discard); err != nil || out.String() != usage {
			t.Errorf("%q: got %q, %v", args, out.String(), err)
		}
	}
	if err := command(context.Background(), []string{"run", "-h"}, io.Discard, &out); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("got %v, want %v", err, flag.ErrHelp)
	}
	for _, name := range []string{"-version", "-controller-manager", "-scheduler", "-datastore", "-port", "-dir", "-kubeconfig"} {
		if !strings.Contains(out.String(), name+" ") && !strings.Contains(out.String(), name+"\n") {
			t.Errorf("help of run does not describe %s", name)
		}
	}
}

func TestBuildPrintsTheDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KUBEBUILDER_ASSETS", dir)
	var out strings.Builder
	args := []string{"build", "-components", "etcd, kube-apiserver"}
	if err := command(context.Background(), args, &out, io.Discard); err != nil || out.String() != dir+"\n" {
		t.Errorf("got %q, %v, want %q", out.String(), err, dir)
	}
}

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real control plane")
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var out strings.Builder
	// The first thing that is printed is the introduction, which comes when the server is ready.
	interrupt := writerFunc(func(b []byte) (int, error) {
		cancel()
		return out.Write(b)
	})
	if err := command(ctx, []string{"run", "-kubeconfig", kubeconfig}, interrupt, os.Stderr); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kube-apiserver  https://127.0.0.1:", "export KUBECONFIG=" + kubeconfig, "stopping"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("printed %q, want %q in it", out.String(), want)
		}
	}
	if _, err := os.Stat(kubeconfig); err != nil {
		t.Error(err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
