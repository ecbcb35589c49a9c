// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package apipath reads from the path of a Kubernetes API request what it is
// about, by the rules of kube-apiserver (apiserver 0.37,
// pkg/endpoints/request/requestinfo.go).
package apipath

import (
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Path is what the path of a request names.
type Path struct {
	GVR         schema.GroupVersionResource
	Namespace   string // empty: none, or all
	Name        string // empty: the request is about a collection
	Subresource string // the rest of the path behind the name
	Watch       bool   // the deprecated /watch/ form
}

// Parse returns what a path names, and whether it names a resource. A path
// prefix before /api or /apis, as a proxy in front of several clusters may need
// it, is skipped; so is the query.
func Parse(path string) (p Path, ok bool) {
	path, _, _ = strings.Cut(path, "?")
	rest := strings.TrimSuffix(path, "/")
	part := func() (s string) {
		s, rest, _ = strings.Cut(rest, "/")
		return s
	}
	root := part()
	for root != "api" && root != "apis" {
		if rest == "" {
			return Path{}, false
		}
		root = part()
	}
	if root == "apis" {
		p.GVR.Group = part()
	}
	p.GVR.Version, p.GVR.Resource = part(), part()
	if p.GVR.Resource == "watch" && rest != "" {
		p.Watch, p.GVR.Resource = true, part()
	}
	p.Name = part()
	if p.GVR.Resource == "namespaces" && p.Name != "" {
		if next, _, _ := strings.Cut(rest, "/"); next != "" && next != "status" && next != "finalize" {
			p.Namespace, p.GVR.Resource = p.Name, part()
			p.Name = part()
		}
	}
	p.Subresource = rest
	if p.GVR.Version == "" || p.GVR.Resource == "" {
		return Path{}, false
	}
	return p, true
}

// Selectors are what a list or watch is restricted to.
type Selectors struct{ Label, Field string }

// SelectorsOf reads them from the query of a request's path.
func SelectorsOf(path string) (Selectors, bool) {
	_, query, _ := strings.Cut(path, "?")
	values, err := url.ParseQuery(query)
	return Selectors{values.Get("labelSelector"), values.Get("fieldSelector")}, err == nil
}
