// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestParseFlags(t *testing.T) {
	defaults := options{
		samples: 3, interval: 10 * time.Second, timeout: 10 * time.Second, lock: defaultLock(), jitter: 30 * time.Second, cooldown: time.Hour,
	}
	for _, test := range []struct {
		name, args string
		want       func(o *options)
	}{
		{"nothing given", "", func(*options) {}},
		{"kinds", "-resource configmaps,secrets -resource leases.coordination.k8s.io", func(o *options) {
			o.resources = []string{"configmaps", "secrets", "leases.coordination.k8s.io"}
		}},
		{"object", "-object kube-system/hot -namespace kube-system", func(o *options) {
			o.object, o.namespace = types.NamespacedName{Namespace: "kube-system", Name: "hot"}, "kube-system"
		}},
		{"object without namespace", "-resource nodes -object a", func(o *options) {
			o.resources, o.object = []string{"nodes"}, types.NamespacedName{Name: "a"}
		}},
		{"servers", "-server 10.0.0.7:6443 -server [::1]:6443", func(o *options) { o.servers = []string{"10.0.0.7:6443", "[::1]:6443"} }},
		{"where", "-kubeconfig k -context c -all -o json", func(o *options) { o.kubeconfig, o.context, o.all, o.json = "k", "c", true, true }},
		{"how", "-samples 1 -interval 1s -timeout 4s -o table", func(o *options) {
			o.samples, o.interval, o.timeout = 1, time.Second, 4*time.Second
		}},
		{"what to do", "-on-frozen reboot -lock l -jitter 0 -cooldown 5m -dry-run", func(o *options) {
			o.onFrozen, o.lock, o.jitter, o.cooldown, o.dryRun = "reboot", "l", 0, 5*time.Minute, true
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := defaults
			test.want(&want)
			got, err := parseFlags(strings.Fields(test.args))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(options{})); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBadFlagsGiveOneLine(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"-samples 0", "-samples 0: must be at least 1"},
		{"-interval 999ms", "at least 1s"},
		{"-timeout 3s", "at least 4s"},
		{"-all -server a:1", "exclude each other"},
		{"-server 10.0.0.7", "must be HOST:PORT"},
		{"-server :6443", "must be HOST:PORT"},
		{"-object a/b -resource configmaps,secrets", "one -resource"},
		{"-object a/", "NAMESPACE/NAME"},
		{"-object a/b/c", "NAMESPACE/NAME"},
		{"-resource configmaps,", "must be a kind"},
		{"-o yaml", "table or json"},
		{"-on-frozen reboot -samples 2", "-samples 3 or more, not 2"},
		{"-on-frozen reboot -jitter -1s", "must not be negative"},
		{"-dry-run", "belongs to -on-frozen"},
		{"-speed 2", "-speed"},
		{"configmaps", `unexpected argument "configmaps"`},
	} {
		t.Run(test.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := run(t.Context(), strings.Fields(test.args), &stdout, &stderr); status != exitUsage || stdout.Len() > 0 {
				t.Errorf("status %d and %q on standard output, want %d and nothing", status, stdout.String(), exitUsage)
			}
			if text := stderr.String(); !strings.Contains(text, test.want) || strings.Count(text, "\n") != 1 {
				t.Errorf("said %q, want one line with %q", text, test.want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), []string{"-h"}, &stdout, &stderr); status != 0 || stderr.Len() > 0 {
		t.Errorf("status %d and %q on standard error, want 0 and nothing", status, stderr.String())
	}
	if stdout.String() != usage {
		t.Errorf("said %q", stdout.String())
	}
	for line := range strings.SplitSeq(usage, "\n") {
		if len(line) > 100 {
			t.Errorf("%d columns, want at most 100: %s", len(line), line)
		}
	}
}

func TestNoKubeconfigCannotTell(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), []string{"-kubeconfig", "/no/such/file"}, &stdout, &stderr); status != exitUnknown {
		t.Errorf("status %d, want %d", status, exitUnknown)
	}
	if !strings.Contains(stderr.String(), "/no/such/file") {
		t.Errorf("said %q, want the file's name", stderr.String())
	}
}
