// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strconv"

	"github.com/freshwatch/freshwatch/flightrecorder"
)

// handler serves the page. It has no state but what it was made from.
type handler struct {
	opts   Options
	page   *template.Template
	policy string
}

// New returns a handler that serves the page, and the same as JSON, at whatever path it is
// mounted. It fails if an option is out of range, naming the option, its value and the
// rule.
//
// It answers GET and HEAD. JSON is served for ?format=json, and to who accepts that rather
// than HTML. Any number of requests may be served at once. It does no I/O; who may see it
// is for the server to decide that it is mounted on.
func New(opts Options) (http.Handler, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	page, err := parse()
	if err != nil {
		return nil, fmt.Errorf("debugpage: %w", err)
	}
	return &handler{opts: opts, page: page, policy: policy()}, nil
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.protect(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are served", http.StatusMethodNotAllowed)
		return
	}
	var body []byte
	var err error
	switch asked(r) {
	case formatJSON:
		w.Header().Set("Content-Type", "application/json")
		body, err = json.Marshal(h.opts.Recorder.Snapshot())
		body = append(body, '\n')
	case formatHTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		body, err = h.render(h.opts.Recorder.Snapshot(), r.URL.Query().Get("refresh") != "off")
	default:
		status := http.StatusNotAcceptable
		if r.URL.Query().Has("format") {
			status = http.StatusBadRequest
		}
		http.Error(w, "there is text/html and application/json, or ?format=html and ?format=json", status)
		return
	}
	if err != nil {
		http.Error(w, "the page cannot be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	body = compressed(r, w.Header(), body)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // who has gone needs no answer
	}
}

// protect sets the headers that every answer has.
func (h *handler) protect(header http.Header) {
	header.Set("Content-Security-Policy", h.policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	header.Set("Vary", "Accept, Accept-Encoding")
}

// render returns the page.
func (h *handler) render(s flightrecorder.Snapshot, refresh bool) ([]byte, error) {
	v := viewOf(s)
	v.Title, v.Links = h.opts.Title, h.opts.Links
	v.Style, v.Script = template.CSS(pageCSS), template.JS(pageJS) //nolint:gosec // they are this package's own
	if refresh {
		v.Refresh = h.opts.Refresh
	}
	var out bytes.Buffer
	err := h.page.Execute(&out, v)
	return out.Bytes(), err
}
