// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

func discoveryClient(t *testing.T, cfg *rest.Config) *discovery.DiscoveryClient {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestDiscovery(t *testing.T) {
	srv := start(t, freshtest.Options{})
	client := discoveryClient(t, srv.Config())
	groups, err := restmapper.GetAPIGroupResources(client)
	if err != nil {
		t.Fatal(err)
	}
	httpClient, err := rest.HTTPClientFor(srv.Config())
	if err != nil {
		t.Fatal(err)
	}
	lazy, err := apiutil.NewDynamicRESTMapper(srv.Config(), httpClient)
	if err != nil {
		t.Fatal(err)
	}
	for name, mapper := range map[string]interface {
		KindFor(schema.GroupVersionResource) (schema.GroupVersionKind, error)
	}{"client-go": restmapper.NewDiscoveryRESTMapper(groups), "controller-runtime": lazy} {
		for resource, want := range map[string]schema.GroupVersionKind{
			"widgets":                  widgetKind.GVK(),
			"configmaps":               {Version: "v1", Kind: "ConfigMap"},
			"leases":                   {Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
			"selfsubjectaccessreviews": {Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectAccessReview"},
		} {
			got, err := mapper.KindFor(schema.GroupVersionResource{Group: want.Group, Resource: resource})
			if err != nil || got != want {
				t.Errorf("%s: %s is %v, %v; want %v", name, resource, got, err, want)
			}
		}
	}
	list, err := client.ServerResourcesForGroupVersion("example.com/v1")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list.APIResources {
		got = append(got, r.Name)
	}
	if diff := cmp.Diff([]string{"widgets", "widgets/status"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if version, err := client.ServerVersion(); err != nil || version.Minor != "37" {
		t.Errorf("version: %v, %v", version, err)
	}
}

// TestPaths asks for what has no client.
func TestPaths(t *testing.T) {
	srv := start(t, freshtest.Options{})
	mustCreate(t, srv, configMap("a"))
	httpClient, err := rest.HTTPClientFor(srv.Config())
	if err != nil {
		t.Fatal(err)
	}
	const table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
	for _, tt := range []struct {
		name, method, path, accept string
		code                       int
		kind                       string
	}{
		{"liveness", "GET", "/livez", "", 200, ""},
		{"one group", "GET", "/apis/example.com", "", 200, "APIGroup"},
		{"group that is not served", "GET", "/apis/none", "", 404, "Status"},
		{"version that is not served", "GET", "/apis/example.com/v2", "", 404, "Status"},
		{"resource that is not served", "GET", "/api/v1/nodes", "", 404, "Status"},
		{"subresource that is not served", "GET", "/api/v1/namespaces/default/configmaps/a/status", "", 404, "Status"},
		{"object", "GET", "/api/v1/namespaces/default/configmaps/a", "", 200, "ConfigMap"},
		{"object without its namespace", "GET", "/api/v1/configmaps/a", "", 404, "Status"},
		{"object as a table", "GET", "/api/v1/namespaces/default/configmaps/a", table, 200, "Table"},
		{"list as a table", "GET", "/api/v1/configmaps", table, 200, "Table"},
		{"list in protobuf only", "GET", "/api/v1/configmaps", "application/vnd.kubernetes.protobuf", 406, "Status"},
		{"list in anything", "GET", "/api/v1/configmaps", "*/*", 200, "ConfigMapList"},
		{"write without a body", "POST", "/api/v1/namespaces/default/configmaps", "", 422, "Status"},
		{"write without a namespace", "POST", "/api/v1/configmaps", "", 405, "Status"},
		{"watch from an RV that is no number", "GET", "/api/v1/configmaps?watch=1&resourceVersion=x", "", 400, "Status"},
		{"dry run", "POST", "/api/v1/namespaces/default/configmaps?dryRun=All", "", 400, "Status"},
		{"access review read", "GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", 405, "Status"},
		{"method that is none", "PROPFIND", "/api/v1/configmaps", "", 405, "Status"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), tt.method, srv.Config().Host+tt.path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Accept", tt.accept)
			response, err := httpClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if got := kindOf(body); response.StatusCode != tt.code || got != tt.kind {
				t.Errorf("%d, %q; want %d, %q\n%s", response.StatusCode, got, tt.code, tt.kind, body)
			}
		})
	}
}
