// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"bufio"
	"mime"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// framing cuts a body into pieces: watch events, or chunks as they come. What it returns are the bytes on the wire.
type framing interface {
	// next returns the next piece. An error ends the body; bytes that came before it are returned with it.
	next(*bufio.Reader) ([]byte, error)
	// kind returns the type of the event in a piece, empty if it is none.
	kind(piece []byte) string
	// metadata returns the metadata of the event's object.
	metadata(piece []byte) metav1.ObjectMeta
	// errorEvent returns a piece with an ERROR event.
	errorEvent(metav1.Status) []byte
}

// piece is a part of a body.
type piece struct {
	framing framing
	raw     []byte
	kind    string // of the event, empty for a chunk
	at      time.Time
	err     error // the upstream ended after it
}

// endsInitialEvents reports whether the piece is the bookmark that ends the initial events of a WatchList.
func (p *piece) endsInitialEvents() bool {
	return p.kind == string(watch.Bookmark) &&
		p.framing.metadata(p.raw).Annotations[metav1.InitialEventsAnnotationKey] == "true"
}

// framingOf chooses by the content type, as the client will.
func framingOf(ex *exchange, resp *http.Response) framing {
	if !ex.streaming(resp) {
		return chunks{}
	}
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case err == nil && media == "application/json":
		return jsonFrames{}
	case err == nil && media == "application/vnd.kubernetes.protobuf":
		return protobufFrames{}
	default:
		return chunks{}
	}
}

// chunks is the framing of what is not a watch stream: whatever comes in one read.
type chunks struct{}

func (chunks) next(r *bufio.Reader) ([]byte, error) {
	if _, err := r.Peek(1); err != nil {
		return nil, err
	}
	buf := make([]byte, r.Buffered())
	_, err := r.Read(buf)
	return buf, err
}

func (chunks) kind([]byte) string                { return "" }
func (chunks) metadata([]byte) metav1.ObjectMeta { return metav1.ObjectMeta{} }
func (chunks) errorEvent(s metav1.Status) []byte { return encodeStatus(s) }
