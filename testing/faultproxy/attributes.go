// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// attributes is what the API server will make of a request: its verb and its resource.
type attributes struct {
	method, path string

	verb, group, version             string
	resource, subresource, namespace string
	name                             string
	user, userAgent                  string
	query                            listQuery
}

// listQuery holds the parameters of lists and watches.
type listQuery struct {
	resourceVersion, resourceVersionMatch string
	fieldSelector, labelSelector          string
	continueToken                         string
	limit, timeoutSeconds                 int64
	sendInitialEvents, allowBookmarks     bool
}

// verbOf maps methods to verbs, before a missing name turns get into list and delete into deletecollection.
func verbOf(method string) string {
	switch method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodGet, http.MethodHead:
		return "get"
	default:
		return strings.ToLower(method)
	}
}

// parseAttributes reads a request the way apiserver's RequestInfoFactory does (read at v0.37).
func parseAttributes(r *http.Request, users map[string]string) *attributes {
	a := &attributes{
		method: r.Method, path: r.URL.Path, verb: strings.ToLower(r.Method),
		user: userOf(r.Header, users), userAgent: r.UserAgent(),
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) >= 3:
		a.version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) >= 4:
		a.group, a.version, parts = parts[1], parts[2], parts[3:]
	default:
		return a
	}
	a.verb = verbOf(r.Method)
	q := r.URL.Query()
	watching := isTrue(q, "watch")
	if parts[0] == "watch" && len(parts) > 1 { // the deprecated way to ask for a watch
		watching, parts = true, parts[1:]
	}
	a.setResource(parts)
	a.setQuery(q)
	a.setCollectionVerb(watching)
	return a
}

func (a *attributes) setResource(parts []string) {
	if parts[0] == "namespaces" && len(parts) > 1 {
		a.namespace = parts[1]
		// Two words after a namespace's name are its subresources, the others resources inside of it.
		if len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
			parts = parts[2:]
		}
	}
	a.resource = parts[0]
	if len(parts) > 1 {
		a.name = parts[1]
	}
	if len(parts) > 2 {
		a.subresource = parts[2]
	}
}

func (a *attributes) setCollectionVerb(watching bool) {
	if watching && a.verb == "get" {
		a.verb = "watch"
		a.name = cmp.Or(a.name, nameInSelector(a.query.fieldSelector))
		return
	}
	if a.name != "" {
		return
	}
	switch a.verb {
	case "get":
		a.verb = "list"
		a.name = nameInSelector(a.query.fieldSelector)
	case "delete":
		a.verb = "deletecollection"
	}
}

func (a *attributes) setQuery(q url.Values) {
	a.query = listQuery{
		resourceVersion: q.Get("resourceVersion"), resourceVersionMatch: q.Get("resourceVersionMatch"),
		fieldSelector: q.Get("fieldSelector"), labelSelector: q.Get("labelSelector"),
		continueToken: q.Get("continue"), limit: number(q, "limit"), timeoutSeconds: number(q, "timeoutSeconds"),
		sendInitialEvents: isTrue(q, "sendInitialEvents"), allowBookmarks: isTrue(q, "allowWatchBookmarks"),
	}
}

func isTrue(q url.Values, key string) bool {
	if !q.Has(key) {
		return false
	}
	v := strings.ToLower(q.Get(key))
	return v != "false" && v != "0"
}

func number(q url.Values, key string) int64 {
	n, err := strconv.ParseInt(q.Get(key), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func nameInSelector(selector string) string {
	for term := range strings.SplitSeq(selector, ",") {
		if name, ok := strings.CutPrefix(term, "metadata.name="); ok {
			return strings.TrimPrefix(name, "=")
		}
	}
	return ""
}

// anonymous is the user of requests without a bearer token.
const anonymous = "anonymous"

// TokenUser returns the name under which the API proxy knows the bearer of a token that APIOptions.Users does not name:
// "token-" and eight hexadecimal digits of its SHA-256. Tokens themselves are never kept.
func TokenUser(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "token-" + hex.EncodeToString(sum[:4])
}

func userOf(h http.Header, users map[string]string) string {
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return anonymous
	}
	if name, ok := users[token]; ok {
		return name
	}
	return TokenUser(token)
}
