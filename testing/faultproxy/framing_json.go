// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"bufio"
	"bytes"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// jsonFrames is a sequence of JSON objects, one for each event. The API server ends each with a newline, but nothing in
// the protocol says so; objects are told apart by their braces.
type jsonFrames struct{}

func (jsonFrames) next(r *bufio.Reader) ([]byte, error) {
	var frame []byte
	var s jsonScanner
	for {
		if _, err := r.Peek(1); err != nil {
			return frame, err
		}
		buf, _ := r.Peek(r.Buffered())
		n, complete := s.scan(buf)
		if complete && n < len(buf) && buf[n] == '\n' {
			n++
		}
		frame = append(frame, buf[:n]...)
		_, _ = r.Discard(n)
		if complete {
			return frame, nil
		}
	}
}

// jsonScanner finds the end of a JSON object in bytes that come in any portions.
type jsonScanner struct {
	depth             int
	inString, escaped bool
}

// scan returns how many of the bytes belong to the object, and whether it ends there.
func (s *jsonScanner) scan(data []byte) (int, bool) {
	for i, c := range data {
		switch {
		case s.escaped:
			s.escaped = false
		case s.inString:
			s.escaped = c == '\\'
			s.inString = c != '"'
		case c == '"':
			s.inString = true
		case c == '{', c == '[':
			s.depth++
		case c == '}', c == ']':
			s.depth--
			if s.depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(data), false
}

// typePrefix is how the API server's encoder begins each event.
const typePrefix = `{"type":"`

func (jsonFrames) kind(frame []byte) string {
	frame = bytes.TrimLeft(frame, " \t\r\n")
	if rest, ok := bytes.CutPrefix(frame, []byte(typePrefix)); ok {
		if kind, _, ok := bytes.Cut(rest, []byte(`"`)); ok {
			return string(kind)
		}
	}
	var event struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(frame, &event) != nil {
		return ""
	}
	return event.Type
}

func (jsonFrames) metadata(frame []byte) metav1.ObjectMeta {
	var event struct {
		Object metav1.PartialObjectMetadata `json:"object"`
	}
	_ = json.Unmarshal(frame, &event) // what cannot be read has no metadata
	return event.Object.ObjectMeta
}

func (jsonFrames) errorEvent(s metav1.Status) []byte {
	frame := []byte(typePrefix)
	frame = append(frame, watch.Error...)
	frame = append(frame, `","object":`...)
	frame = append(frame, encodeStatus(s)...)
	return append(frame, "}\n"...)
}
