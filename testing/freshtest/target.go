// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// target is what a request is about, read from its path and query. Its gvr is empty for what is not a resource.
type target struct {
	verb        string
	gvr         schema.GroupVersionResource
	namespace   string
	name        string
	subresource string
}

// parseTarget reads a request like kube-apiserver's RequestInfo.
func parseTarget(r *http.Request, query url.Values) target {
	t := target{verb: strings.ToLower(r.Method)}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		t.gvr.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		t.gvr.Group, t.gvr.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return t
	}
	// /namespaces/NAME and its subresources are about the namespace; with a resource behind, about what is in it.
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		t.namespace, parts = parts[1], parts[2:]
	}
	t.gvr.Resource = parts[0]
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		t.subresource = strings.Join(parts[2:], "/")
	}
	t.verb = verbOf(r.Method, t.name, query)
	return t
}

// verbOf names the request as RBAC does.
func verbOf(method, name string, query url.Values) string {
	watching := query.Get("watch") == "true" || query.Get("watch") == "1"
	switch {
	case method == http.MethodGet && watching:
		return "watch"
	case method == http.MethodGet && name == "":
		return "list"
	case method == http.MethodPost:
		return "create"
	case method == http.MethodPut:
		return "update"
	case method == http.MethodDelete && name == "":
		return "deletecollection"
	default:
		return strings.ToLower(method) // get, patch, delete
	}
}
