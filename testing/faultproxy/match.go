// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"fmt"
	"strings"
	"time"
)

// Match selects requests. Every field that is set has to agree; a zero field agrees with everything, and the zero Match
// with every request.
type Match struct {
	// Verb is list, watch, get, create, update, patch, delete or deletecollection, as RBAC names them. A WatchList is a
	// watch. Requests that are not for a resource have the HTTP method in lower case.
	Verb string
	// Group is the API group; "core" stands for the group whose name is empty.
	Group string
	// Resource is the plural, such as "configmaps".
	Resource string
	// Subresource, such as "status". Requests without one only match if this is empty.
	Subresource string
	// Namespace of the request. A list or watch across all namespaces has none and does not match.
	Namespace string
	// Name of the object, or what a field selector metadata.name=NAME asks for.
	Name string
	// Path is a prefix of the URL's path, for what is not a resource: "/readyz".
	Path string
	// User is the name that APIOptions.Users gives to the bearer token, else TokenUser(token), else "anonymous".
	User string
	// UserAgent is a part of the User-Agent header.
	UserAgent string
	// InitialEvents restricts to watches that ask for sendInitialEvents=true (WatchList).
	InitialEvents bool

	// After, Times and For restrict which of the selected requests a fault hits; Counts and Requests ignore them. The first
	// After requests pass, then Times requests are hit (0: all), and For after the injection it ends by itself (0: only
	// when lifted). Streams that were open at the time of the injection count in the order in which they were opened.
	After int
	Times int
	For   time.Duration
}

// coreGroup is how a Match names the group without a name.
const coreGroup = "core"

func (m Match) matches(a *attributes) bool {
	group := a.group
	if group == "" && a.resource != "" {
		group = coreGroup
	}
	for _, f := range [...]struct{ want, got string }{
		{m.Verb, a.verb},
		{m.Group, group},
		{m.Resource, a.resource},
		{m.Subresource, a.subresource},
		{m.Namespace, a.namespace},
		{m.Name, a.name},
		{m.User, a.user},
	} {
		if f.want != "" && f.want != f.got {
			return false
		}
	}
	return strings.HasPrefix(a.path, m.Path) && strings.Contains(a.userAgent, m.UserAgent) &&
		(!m.InitialEvents || a.query.sendInitialEvents)
}

// String lists what is set.
func (m Match) String() string {
	var b strings.Builder
	add := func(name, value string) {
		if value == "" || value == "0" || value == "0s" || value == "false" {
			return
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%s", name, value)
	}
	add("verb", m.Verb)
	add("group", m.Group)
	add("resource", m.Resource)
	add("subresource", m.Subresource)
	add("namespace", m.Namespace)
	add("name", m.Name)
	add("path", m.Path)
	add("user", m.User)
	add("userAgent", m.UserAgent)
	add("initialEvents", fmt.Sprint(m.InitialEvents))
	add("after", fmt.Sprint(m.After))
	add("times", fmt.Sprint(m.Times))
	add("for", m.For.String())
	if b.Len() == 0 {
		return "everything"
	}
	return b.String()
}
