// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apipath

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestParse(t *testing.T) {
	cm := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1alpha1", Resource: "widgets"}
	tests := []struct {
		path      string
		gvr       schema.GroupVersionResource
		namespace string
		ok        bool
	}{
		{"/api/v1/configmaps", cm, "", true},
		{"/api/v1/configmaps?watch=true&resourceVersion=7", cm, "", true},
		{"/api/v1/namespaces/kube-system/configmaps", cm, "kube-system", true},
		{"/api/v1/watch/namespaces/a/configmaps", cm, "a", true},
		{"/apis/example.com/v1alpha1/widgets", widgets, "", true},
		{"/apis/example.com/v1alpha1/namespaces/a/widgets", widgets, "a", true},
		{"/k8s/clusters/c-1/apis/example.com/v1alpha1/widgets", widgets, "", true},
		{"/api/v1/namespaces", schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, "", true},
		{"/api/v1/watch/namespaces", schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, "", true},
		{"/api/v1", schema.GroupVersionResource{}, "", false},
		{"/apis/example.com/v1alpha1", schema.GroupVersionResource{}, "", false},
		{"/readyz", schema.GroupVersionResource{}, "", false},
		{"", schema.GroupVersionResource{}, "", false},
	}
	for _, tt := range tests {
		gvr, ns, ok := Parse(tt.path)
		if gvr != tt.gvr || ns != tt.namespace || ok != tt.ok {
			t.Errorf("Parse(%q) = %v, %q, %v; want %v, %q, %v", tt.path, gvr, ns, ok, tt.gvr, tt.namespace, tt.ok)
		}
	}
}
