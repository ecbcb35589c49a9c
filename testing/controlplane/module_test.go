// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGenerateMod(t *testing.T) {
	r := release{minor: "1.37", kubernetes: "1.37.2", etcd: "3.7.0"}
	const described = `{
		"Go": "1.26.0",
		"Godebug": [{"Key": "default", "Value": "go1.26"}],
		"Require": [
			{"Path": "github.com/other/module", "Version": "v1.0.0"},
			{"Path": "go.etcd.io/etcd/server/v3", "Version": "v3.7.0", "Indirect": true}
		],
		"Replace": [
			{"Old": {"Path": "k8s.io/api"}, "New": {"Path": "./staging/src/k8s.io/api"}},
			{"Old": {"Path": "github.com/fork/ed"}, "New": {"Path": "github.com/for/k", "Version": "v1.0.0"}},
			{"Old": {"Path": "k8s.io/client-go"}, "New": {"Path": "./staging/src/k8s.io/client-go"}}
		]
	}`
	got, err := generateMod(r, parseMod(t, described))
	if err != nil {
		t.Fatal(err)
	}
	want := `module freshwatch.local/controlplane

go 1.26.0

godebug default=go1.26
require k8s.io/kubernetes v1.37.2
require go.etcd.io/etcd/server/v3 v3.7.0
replace k8s.io/api => k8s.io/api v0.37.2
replace k8s.io/client-go => k8s.io/client-go v0.37.2
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	t.Run("another etcd than pinned", func(t *testing.T) {
		r := r
		r.etcd = "3.6.4"
		_, err := generateMod(r, parseMod(t, described))
		wantError(t, err, "1.37.2", `requires etcd "v3.7.0"`, "expects v3.6.4")
	})
	t.Run("no staging modules", func(t *testing.T) {
		_, err := generateMod(r, parseMod(t, `{"Require": [{"Path": "go.etcd.io/etcd/server/v3", "Version": "v3.7.0"}]}`))
		wantError(t, err, "no staging module")
	})
}

// parseMod reads what "go mod edit -json" prints.
func parseMod(t *testing.T, described string) modFile {
	t.Helper()
	var m modFile
	if err := json.Unmarshal([]byte(described), &m); err != nil {
		t.Fatal(err)
	}
	return m
}
