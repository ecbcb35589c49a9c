// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/freshwatch/freshwatch/internal/apipath"
)

// requestKind is what the rules for lists and watches go by.
type requestKind int

const (
	other requestKind = iota
	list
	watch
)

// call is a list or watch, as its request tells.
type call struct {
	kind    requestKind
	path    apipath.Path
	timeout time.Duration // asked of the server; 0: none
	initial bool          // asks for initial events
	renew   time.Duration // after which such a watch is renewed
	resumes bool          // goes on from a resourceVersion
}

// classify reads what a request is. Requests with a subresource (logs, exec,
// port-forward, proxy) and requests by name are neither list nor watch, whatever
// their query says, as in kube-apiserver.
func classify(req *http.Request) call {
	if req.Method != http.MethodGet || req.Header.Get("Upgrade") != "" { // such as a watch over WebSocket
		return call{}
	}
	p, ok := apipath.Parse(req.URL.Path)
	switch {
	case !ok || p.Subresource != "":
		return call{}
	case p.Watch:
		return watchCall(p, req.URL.Query())
	case p.Name != "":
		return call{}
	case !strings.Contains(req.URL.RawQuery, "watch"):
		return call{kind: list, path: p}
	}
	query := req.URL.Query()
	if !truthy(query["watch"]) {
		return call{kind: list, path: p}
	}
	return watchCall(p, query)
}

func watchCall(p apipath.Path, query url.Values) call {
	c := call{kind: watch, path: p, initial: truthy(query["sendInitialEvents"])}
	if seconds, err := strconv.ParseUint(query.Get("timeoutSeconds"), 10, 31); err == nil {
		c.timeout = time.Duration(seconds) * time.Second
	}
	rv := query.Get("resourceVersion")
	c.resumes = !c.initial && rv != "" && rv != "0"
	return c
}

// truthy reads a boolean parameter as kube-apiserver does (apimachinery 0.37,
// pkg/runtime/conversion.go): all but absence, "0" and "false" is true.
func truthy(values []string) bool {
	return len(values) > 0 && values[0] != "0" && !strings.EqualFold(values[0], "false")
}

// withTimeout returns the request with another timeout for the server. The
// original is not changed.
func withTimeout(req *http.Request, timeout time.Duration) *http.Request {
	u := *req.URL
	query := u.Query()
	query.Set("timeoutSeconds", strconv.FormatInt(int64(timeout/time.Second), 10))
	u.RawQuery = query.Encode()
	out := *req
	out.URL = &u
	return &out
}
