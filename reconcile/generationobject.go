// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// sightGeneration takes from an object what counts.
func sightGeneration(u *unstructured.Unstructured, condition string) generationSighting {
	return generationSighting{
		namespace: u.GetNamespace(), name: u.GetName(),
		generation: u.GetGeneration(), observed: observedGeneration(u, condition),
		took: generationTook(u, condition),
	}
}

// observedGeneration is 0 where the controller has reported nothing.
func observedGeneration(u *unstructured.Unstructured, condition string) int64 {
	if condition == "" {
		n, _, _ := unstructured.NestedFieldNoCopy(u.Object, "status", "observedGeneration")
		return asGeneration(n)
	}
	list, _, _ := unstructured.NestedFieldNoCopy(u.Object, "status", "conditions")
	conditions, _ := list.([]any)
	for _, c := range conditions {
		if fields, ok := c.(map[string]any); ok && fields["type"] == condition {
			return asGeneration(fields["observedGeneration"])
		}
	}
	return 0
}

// asGeneration reads a number, and one that a controller has written as text, as Argo
// Rollouts does.
func asGeneration(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case string:
		n, _ := strconv.ParseInt(v, 10, 64)
		return n
	}
	return 0
}

// generationTook is the time from the newest edit of an object's spec to the newest
// write of its observed generation, as its managed fields have it: to the second, by the
// clock of the API servers. It is an estimate: another write of the status by the same
// manager later makes it longer, and one of anything else by who has edited the spec,
// shorter. It is negative where they do not tell.
//
// An edit may come through a subresource, such as scale; one of the status is none.
func generationTook(u *unstructured.Unstructured, condition string) time.Duration {
	report := []string{"f:status", "f:observedGeneration"}
	if condition != "" {
		report = []string{"f:status", "f:conditions", `k:{"type":"` + condition + `"}`, "f:observedGeneration"}
	}
	list, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "managedFields")
	entries, _ := list.([]any)
	var edited, reported time.Time
	for _, e := range entries {
		entry, ok := e.(map[string]any)
		if !ok {
			continue
		}
		if entry["subresource"] == "status" {
			reported = laterWrite(reported, entry, report...)
		} else {
			edited = laterWrite(edited, entry, "f:spec")
		}
	}
	if edited.IsZero() || reported.IsZero() {
		return -1
	}
	return reported.Sub(edited)
}

// laterWrite is the later of t and the time of an entry of managed fields that has the
// given field.
func laterWrite(t time.Time, entry map[string]any, field ...string) time.Time {
	fields, _ := entry["fieldsV1"].(map[string]any)
	if _, found, err := unstructured.NestedFieldNoCopy(fields, field...); !found || err != nil {
		return t
	}
	text, _ := entry["time"].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Before(t) {
		return t
	}
	return at
}
