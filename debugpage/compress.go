// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
)

// compressFrom is how long an answer has to be, in bytes, for it to be worth it. A page of
// 1,000 informers shrinks to a tenth, which counts over a phone and a port-forward.
const compressFrom = 16 << 10

// compressed returns body as it is to be sent to who made the request, and notes that in
// the header. There is no secret in it that a length could tell of.
func compressed(r *http.Request, header http.Header, body []byte) []byte {
	if len(body) < compressFrom || !takesGzip(r.Header.Values("Accept-Encoding")) {
		return body
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return body
	}
	if _, err := w.Write(body); err != nil || w.Close() != nil {
		return body
	}
	header.Set("Content-Encoding", "gzip")
	return out.Bytes()
}

// takesGzip tells whether gzip is named, and not with a weight of 0.
func takesGzip(headers []string) bool {
	for part := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		coding, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		weight, given := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(params), " ", ""), "q=")
		q, err := strconv.ParseFloat(weight, 64)
		return !given || err == nil && q > 0
	}
	return false
}
