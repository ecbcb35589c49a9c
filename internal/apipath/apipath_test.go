// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apipath

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestParse(t *testing.T) {
	core := func(resource string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Version: "v1", Resource: resource}
	}
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1alpha1", Resource: "widgets"}
	tests := []struct {
		path string
		want Path
		ok   bool
	}{
		{"/api/v1/configmaps", Path{GVR: core("configmaps")}, true},
		{"/api/v1/configmaps/", Path{GVR: core("configmaps")}, true},
		{"/api/v1/configmaps?watch=true&resourceVersion=7", Path{GVR: core("configmaps")}, true},
		{"/api/v1/namespaces/kube-system/configmaps", Path{GVR: core("configmaps"), Namespace: "kube-system"}, true},
		{"/api/v1/namespaces/a/configmaps/b", Path{GVR: core("configmaps"), Namespace: "a", Name: "b"}, true},
		{"/api/v1/namespaces/a/pods/b/log", Path{GVR: core("pods"), Namespace: "a", Name: "b", Subresource: "log"}, true},
		{"/api/v1/namespaces/a/services/b/proxy/apis/c", Path{GVR: core("services"), Namespace: "a", Name: "b", Subresource: "proxy/apis/c"}, true},
		{"/api/v1/nodes/b/proxy", Path{GVR: core("nodes"), Name: "b", Subresource: "proxy"}, true},
		{"/api/v1/watch/namespaces/a/configmaps", Path{GVR: core("configmaps"), Namespace: "a", Watch: true}, true},
		{"/api/v1/watch/namespaces/a/configmaps/b", Path{GVR: core("configmaps"), Namespace: "a", Name: "b", Watch: true}, true},
		{"/apis/example.com/v1alpha1/widgets", Path{GVR: widgets}, true},
		{"/apis/example.com/v1alpha1/namespaces/a/widgets", Path{GVR: widgets, Namespace: "a"}, true},
		{"/k8s/clusters/c-1/apis/example.com/v1alpha1/widgets", Path{GVR: widgets}, true},
		{"/api/v1/namespaces", Path{GVR: core("namespaces")}, true},
		{"/api/v1/namespaces/a", Path{GVR: core("namespaces"), Name: "a"}, true},
		{"/api/v1/namespaces/a/status", Path{GVR: core("namespaces"), Name: "a", Subresource: "status"}, true},
		{"/api/v1/namespaces/a/finalize", Path{GVR: core("namespaces"), Name: "a", Subresource: "finalize"}, true},
		{"/api/v1/watch/namespaces", Path{GVR: core("namespaces"), Watch: true}, true},
		{"/api/v1", Path{}, false},
		{"/api/v1/", Path{}, false},
		{"/apis/example.com/v1alpha1", Path{}, false},
		{"/readyz", Path{}, false},
		{"/", Path{}, false},
		{"", Path{}, false},
	}
	for _, tt := range tests {
		got, ok := Parse(tt.path)
		if diff := cmp.Diff(tt.want, got); diff != "" || ok != tt.ok {
			t.Errorf("Parse(%q), ok %v, want %v (-want +got):\n%s", tt.path, ok, tt.ok, diff)
		}
	}
}

// Every GET passes through it.
func TestParseAllocatesNothing(t *testing.T) {
	got := testing.AllocsPerRun(100, func() {
		if _, ok := Parse("/apis/example.com/v1alpha1/namespaces/a/widgets/b/status"); !ok {
			t.Error("not parsed")
		}
	})
	if got != 0 {
		t.Errorf("Parse allocates %v times, want 0", got)
	}
}
