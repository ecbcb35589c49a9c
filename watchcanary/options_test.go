// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/freshwatch/freshwatch/internal/restartlease"
)

func TestDefaults(t *testing.T) {
	o, err := Options{Namespace: "ns"}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if o.Name != DefaultName || o.Interval != DefaultInterval || o.FailAfter != DefaultFailAfter || o.Clock == nil || o.Identity == "" {
		t.Errorf("%+v", o)
	}
	if want := (BudgetOptions{DefaultRestarts, DefaultRestartWindow, DefaultHealthyAfter}); o.Budget != want {
		t.Errorf("%+v, want %+v", o.Budget, want)
	}
	other, err := Options{Namespace: "ns", Interval: 10 * time.Minute}.withDefaults()
	if err != nil || other.Identity == o.Identity {
		t.Errorf("%v, and the identity is the same: %v", err, other.Identity == o.Identity)
	}
}

func TestBadOptions(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		want string
	}{
		{"name", Options{Name: "My Lease"}, `Options.Name is "My Lease"`},
		{"namespace", Options{Namespace: "a/b"}, `Options.Namespace is "a/b"`},
		{"interval", Options{Interval: time.Second}, "Options.Interval is 1s, but must be at least 2s and at most 1h0m0s"},
		{"negative", Options{Interval: -time.Minute}, "Options.Interval is -1m0s"},
		{"huge", Options{Interval: math.MaxInt64}, "Options.Interval is 2562047h47m16.854775807s"},
		{"fail after", Options{Interval: time.Minute, FailAfter: 119 * time.Second}, "Options.FailAfter is 1m59s, but must be at least 2m0s"},
		{"fail after at once", Options{Interval: 2 * time.Second, FailAfter: 14 * time.Second}, "Options.FailAfter is 14s, but must be at least 15s"},
		{"huge fail after", Options{FailAfter: math.MaxInt64}, "at most 24h0m0s"},
		{"restarts", Options{Budget: BudgetOptions{Restarts: -1}}, "Options.Budget.Restarts is -1"},
		{"more restarts than are remembered", Options{Budget: BudgetOptions{Restarts: 33}}, "Options.Budget.Restarts is 33"},
		{"window", Options{Budget: BudgetOptions{Window: time.Minute}}, "Options.Budget.Window is 1m0s, but must be at least 16m0s"},
		{"healthy", Options{Budget: BudgetOptions{HealthyAfter: time.Minute}}, "Options.Budget.HealthyAfter is 1m0s, but must be at least 5m0s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.o.Namespace == "" {
				tt.o.Namespace = "ns"
			}
			_, err := New(Client{Config: &rest.Config{}, HTTP: http.DefaultClient}, tt.o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestBadSource(t *testing.T) {
	for name, from := range map[string]Source{"nil": nil, "typed nil": (*Client)(nil), "no HTTP client": Client{Config: &rest.Config{}}, "empty": Client{}} {
		if _, err := New(from, Options{Namespace: "ns"}); err == nil || !strings.Contains(err.Error(), "manager") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNamespace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "namespace")
	if _, err := restartlease.Namespace("Options.Namespace", "", file); err == nil || !strings.Contains(err.Error(), "Options.Namespace") {
		t.Errorf("outside a pod: %v", err)
	}
	if err := os.WriteFile(file, []byte("operators\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{"": "operators", "mine": "mine"} {
		if got, err := restartlease.Namespace("Options.Namespace", given, file); got != want || err != nil {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
}

// The YAML is what Role returns.
func TestRoleYAML(t *testing.T) {
	text, err := os.ReadFile("role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got rbacv1.Role
	if err := yaml.UnmarshalStrict(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Role("my-operator", DefaultName), &got); diff != "" {
		t.Errorf("-Role +role.yaml\n%s", diff)
	}
}

func TestRulesFor(t *testing.T) {
	got := restartlease.Lacking([]string{"update"}, "ns", "mine", rules("mine"))
	const want = `this process may not update leases.coordination.k8s.io "mine" in namespace "ns": add to its Role there the rules ` +
		`[{apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [mine], verbs: [get, list, watch, update]}]`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := restartlease.Lacking([]string{"create", "get"}, "ns", "mine", rules("mine")); strings.Count(got, "apiGroups") != 2 {
		t.Error(got)
	}
}
