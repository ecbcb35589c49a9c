// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func subjectsOfAReport() []*subject {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	hot := types.NamespacedName{Namespace: "kube-system", Name: "hot"}
	sites := target{clusterScoped: true}
	sites.resource.Group, sites.resource.Resource = "example.com", "sites"
	return []*subject{
		{server: &server{name: "10.0.0.1:6443"}, target: leases(), samples: []sample{
			{at: at, quorum: "300", took: 3004567 * time.Microsecond, cache: "291", object: hot, live: "299", cached: "290"},
			{at: at.Add(13 * time.Second), quorum: "310", took: 3 * time.Second, cache: "291", object: hot, live: "309", cached: "290"},
		}},
		{server: &server{name: "10.0.0.2:6443"}, target: sites, samples: []sample{{at: at, quorum: "300", took: 3 * time.Millisecond, cache: "300"}}},
		{server: &server{name: "10.0.0.3:6443"}, target: sites, samples: []sample{{at: at, err: errors.New("consistent LIST: connection refused")}}},
	}
}

func TestReportAsTable(t *testing.T) {
	var out bytes.Buffer
	if err := newReport(subjectsOfAReport()).write(&out, false); err != nil {
		t.Fatal(err)
	}
	const want = `SERVER         KIND                                       VERDICT      DATASTORE  CACHE  LIST    SAMPLES  REASON
10.0.0.1:6443  leases.coordination.k8s.io in kube-system  frozen       310        291    3.000s  2        at 291, behind 300 for 13s: it lacks 299 of kube-system/hot
10.0.0.2:6443  sites.example.com                          healthy      300        300    0.003s  1        at or past 300, where the datastore was
10.0.0.3:6443  sites.example.com                          unreachable  -          -      0.000s  1        consistent LIST: connection refused
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestReportAsJSON(t *testing.T) {
	var out bytes.Buffer
	if err := newReport(subjectsOfAReport()[:1]).write(&out, true); err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"verdict": "frozen", "exit": 1.0, "frozen_servers": []any{"10.0.0.1:6443"},
		"checks": []any{map[string]any{
			"server": "10.0.0.1:6443", "resource": "leases.coordination.k8s.io", "namespace": "kube-system", "verdict": "frozen",
			"reason": "at 291, behind 300 for 13s: it lacks 299 of kube-system/hot",
			"samples": []any{
				map[string]any{
					"time": "2026-01-02T03:04:05Z", "quorum_rv": "300", "quorum_s": 3.005, "cache_rv": "291",
					"object": "kube-system/hot", "object_rv": "299", "object_cached_rv": "290", "quiet_kind_keeps_up": false,
				},
				map[string]any{
					"time": "2026-01-02T03:04:18Z", "quorum_rv": "310", "quorum_s": 3.0, "cache_rv": "291",
					"object": "kube-system/hot", "object_rv": "309", "object_cached_rv": "290", "quiet_kind_keeps_up": false,
				},
			},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}
