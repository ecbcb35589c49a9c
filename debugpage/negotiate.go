// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// format is what a client is answered in.
type format int

const (
	formatNone format = iota // nothing that there is
	formatHTML
	formatJSON
)

// asked returns what a request asks for: by its query, or else by its Accept.
func asked(r *http.Request) format {
	query := r.URL.Query()
	if !query.Has("format") {
		return accepted(r.Header.Values("Accept"))
	}
	switch query.Get("format") {
	case "json":
		return formatJSON
	case "html":
		return formatHTML
	}
	return formatNone
}

// accepted chooses by the Accept headers, as RFC 9110 wants it: what is named more exactly
// counts, and between equals HTML, so that curl without an Accept gets what a browser
// gets. kubectl get --raw asks for JSON first.
func accepted(headers []string) format {
	html, json, said := weight{}, weight{}, false
	for part := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		kind, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil || !(q >= 0 && q <= 1) {
				continue
			}
		}
		said = true
		html.take(kind, "text/html", q)
		json.take(kind, "application/json", q)
	}
	switch {
	case !said: // or nothing that can be read
		return formatHTML
	case html.q <= 0 && json.q <= 0:
		return formatNone
	case json.q > html.q, json.q == html.q && json.exact > html.exact:
		return formatJSON
	}
	return formatHTML
}

// weight is how much a client wants a media type, and how exactly it has said so.
type weight struct {
	q     float64
	exact int // 3: type and subtype; 2: type; 1: anything; 0: not at all
}

func (w *weight) take(kind, offer string, q float64) {
	major, _, _ := strings.Cut(offer, "/")
	var exact int
	switch kind {
	case offer:
		exact = 3
	case major + "/*":
		exact = 2
	case "*/*":
		exact = 1
	default:
		return
	}
	if exact > w.exact || exact == w.exact && q > w.q {
		w.exact, w.q = exact, q
	}
}
