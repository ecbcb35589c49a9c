// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package apipath reads which resource a Kubernetes API request is about from
// its path.
package apipath

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Parse returns the resource and namespace that a list or watch path names, and
// whether it names one. A path prefix before /api or /apis, as a proxy in front
// of several clusters may need it, is skipped; so is the query. The deprecated
// /watch/ form is understood.
func Parse(path string) (gvr schema.GroupVersionResource, namespace string, ok bool) {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for len(parts) > 0 && parts[0] != "api" && parts[0] != "apis" {
		parts = parts[1:]
	}
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		gvr.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		gvr.Group, gvr.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return schema.GroupVersionResource{}, "", false
	}
	if parts[0] == "watch" && len(parts) > 1 {
		parts = parts[1:]
	}
	if parts[0] == "namespaces" && len(parts) >= 3 {
		namespace, parts = parts[1], parts[2:]
	}
	gvr.Resource = parts[0]
	return gvr, namespace, true
}
