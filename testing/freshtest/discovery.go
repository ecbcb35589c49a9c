// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// serveDiscovery answers what is not about objects: health, version, and what is served. Discovery is the older one, a
// document for each group and version; clients that ask for the aggregated one take it as well.
func (s *Server) serveDiscovery(w http.ResponseWriter, r *http.Request) error {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch path := r.URL.Path; {
	case r.Method != http.MethodGet:
	case path == "/livez", path == "/readyz", path == "/healthz":
		_, _ = w.Write([]byte("ok"))
		return nil
	case path == "/version":
		writeJSON(w, http.StatusOK, version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.2-freshtest"})
		return nil
	case path == "/api":
		writeJSON(w, http.StatusOK, metav1.APIVersions{
			TypeMeta: metav1.TypeMeta{Kind: "APIVersions"},
			Versions: []string{"v1"},
		})
		return nil
	case path == "/apis":
		writeJSON(w, http.StatusOK, s.groups())
		return nil
	case len(parts) == 2 && parts[0] == "apis":
		groups := s.groups().Groups
		if i := slices.IndexFunc(groups, func(g metav1.APIGroup) bool { return g.Name == parts[1] }); i >= 0 {
			writeJSON(w, http.StatusOK, groups[i])
			return nil
		}
	case len(parts) == 2 && parts[0] == "api":
		return s.serveResources(w, r, schema.GroupVersion{Version: parts[1]})
	case len(parts) == 3 && parts[0] == "apis":
		return s.serveResources(w, r, schema.GroupVersion{Group: parts[1], Version: parts[2]})
	}
	return notServed(r)
}

// served returns every kind, the access review included, in the order of the options.
func (s *Server) served() []Kind {
	return append(slices.Clone(s.cl.options.Kinds), accessReviewKind())
}

// groups returns the named groups that are served.
func (s *Server) groups() metav1.APIGroupList {
	list := metav1.APIGroupList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"},
		Groups:   []metav1.APIGroup{},
	}
	for _, k := range s.served() {
		if k.Group == "" {
			continue
		}
		v := metav1.GroupVersionForDiscovery{GroupVersion: k.groupVersion().String(), Version: k.Version}
		i := slices.IndexFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == k.Group })
		if i < 0 {
			list.Groups = append(list.Groups, metav1.APIGroup{
				TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: k.Group,
				Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v,
			})
		} else if !slices.Contains(list.Groups[i].Versions, v) {
			list.Groups[i].Versions = append(list.Groups[i].Versions, v)
		}
	}
	return list
}

// serveResources answers with the resources of one group and version.
func (s *Server) serveResources(w http.ResponseWriter, r *http.Request, gv schema.GroupVersion) error {
	list := metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: gv.String(),
	}
	for _, k := range s.served() {
		if k.groupVersion() == gv {
			list.APIResources = append(list.APIResources, k.resources()...)
		}
	}
	if len(list.APIResources) == 0 {
		return notServed(r)
	}
	writeJSON(w, http.StatusOK, list)
	return nil
}

// resources returns the kind's entries in discovery.
func (k Kind) resources() []metav1.APIResource {
	entry := metav1.APIResource{
		Name: k.Resource, SingularName: strings.ToLower(k.Kind), Kind: k.Kind, Namespaced: k.Namespaced,
		Verbs: metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
	}
	if k.GVR() == accessReviewKind().GVR() {
		entry.Verbs = metav1.Verbs{"create"}
	}
	entries := []metav1.APIResource{entry}
	if k.Status {
		entries = append(entries, metav1.APIResource{
			Name: k.Resource + "/status", Kind: k.Kind, Namespaced: k.Namespaced,
			Verbs: metav1.Verbs{"get", "patch", "update"},
		})
	}
	return entries
}
