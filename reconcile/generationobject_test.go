// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// deployment is one as the API server has it, with a status after every field.
const deployment = `
metadata:
  namespace: a
  name: b
  generation: 4
  managedFields:
  - {manager: kubectl, operation: Update, time: "2026-01-02T03:04:05Z", fieldsV1: {"f:spec": {"f:paused": {}}}}
  - {manager: helm, operation: Apply, time: "2026-01-02T03:04:01Z", fieldsV1: {"f:spec": {"f:template": {}}}}
  - {manager: labeller, operation: Update, time: "2026-01-02T03:04:30Z", fieldsV1: {"f:metadata": {"f:labels": {}}}}
  - {manager: other, operation: Update, time: "2026-01-02T03:04:40Z", subresource: status, fieldsV1: {"f:status": {"f:phase": {}}}}
  - manager: controller
    operation: Update
    time: "2026-01-02T03:04:12Z"
    subresource: status
    fieldsV1:
      "f:status": {"f:observedGeneration": {}, "f:conditions": {'k:{"type":"Ready"}': {"f:observedGeneration": {}}}}
status:
  observedGeneration: 3
  conditions:
  - {type: Progressing, status: "True"}
  - {type: Ready, status: "True", observedGeneration: 2}
`

func TestSightGeneration(t *testing.T) {
	const unknown = -1
	set := func(value any, path ...string) func(map[string]any) {
		return func(o map[string]any) { _ = unstructured.SetNestedField(o, value, path...) }
	}
	entry := func(i int, field string, value any) func(map[string]any) {
		return func(o map[string]any) {
			o["metadata"].(map[string]any)["managedFields"].([]any)[i].(map[string]any)[field] = value
		}
	}
	for _, tc := range []struct {
		name, condition string
		change          func(map[string]any)
		wantObserved    int64
		wantTook        time.Duration
	}{
		{"of the status", "", nil, 3, 7 * time.Second},
		{"of a condition", "Ready", nil, 2, 7 * time.Second},
		{"of a condition that reports none", "Progressing", nil, 0, unknown},
		{"of a condition that is not there", "Available", nil, 0, unknown},
		{"without a status", "", func(o map[string]any) { delete(o, "status") }, 0, 7 * time.Second},
		{"as text", "", set("3", "status", "observedGeneration"), 3, 7 * time.Second},
		{"of another type", "", set(true, "status", "observedGeneration"), 0, 7 * time.Second},
		{"conditions of another type", "Ready", set("none", "status", "conditions"), 0, 7 * time.Second},
		{"without managed fields", "", func(o map[string]any) { delete(o["metadata"].(map[string]any), "managedFields") }, 3, unknown},
		{"nobody has edited", "", func(o map[string]any) {
			entry(0, "subresource", "status")(o)
			entry(1, "subresource", "status")(o)
		}, 3, unknown},
		{"scaled", "", func(o map[string]any) {
			entry(1, "subresource", "scale")(o)
			entry(1, "time", "2026-01-02T03:04:10Z")(o)
		}, 3, 2 * time.Second},
		{"reported before it was edited", "", entry(4, "time", "2026-01-02T03:04:00Z"), 3, -5 * time.Second},
		{"a time that is none", "", entry(4, "time", "yesterday"), 3, unknown},
		{"reported by an ordinary update", "", entry(4, "subresource", ""), 3, unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			text, err := yaml.YAMLToJSON([]byte("apiVersion: apps/v1\nkind: Deployment" + deployment))
			if err != nil {
				t.Fatal(err)
			}
			if err := u.UnmarshalJSON(text); err != nil {
				t.Fatal(err)
			}
			if tc.change != nil {
				tc.change(u.Object)
			}
			got := sightGeneration(u, tc.condition)
			want := generationSighting{namespace: "a", name: "b", generation: 4, observed: tc.wantObserved, took: tc.wantTook}
			if tc.wantTook == unknown {
				want.took = -1
			}
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}
