// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// protobufFrames is a sequence of WatchEvent messages, each behind its length in four bytes. The object inside of an
// event, and only that, has the envelope that Kubernetes puts around protobuf (read in apimachinery v0.37).
type protobufFrames struct{}

const (
	frameHeader = 4
	// frameLimit is far above what etcd stores in one object; a longer frame means that this is not what it says it is.
	frameLimit = 256 << 20
)

// protobufMagic begins an envelope, a runtime.Unknown.
const protobufMagic = "k8s\x00"

func (protobufFrames) next(r *bufio.Reader) ([]byte, error) {
	header, err := r.Peek(frameHeader)
	if err != nil {
		rest := append([]byte(nil), header...)
		_, _ = r.Discard(len(rest))
		return rest, err
	}
	size := binary.BigEndian.Uint32(header)
	if size > frameLimit {
		return nil, fmt.Errorf("watch frame of %d bytes: not a watch stream", size)
	}
	frame := make([]byte, frameHeader+int(size))
	n, err := io.ReadFull(r, frame)
	return frame[:n], err
}

func decodeEvent(frame []byte) (event metav1.WatchEvent, ok bool) {
	if len(frame) < frameHeader {
		return event, false
	}
	message := frame[frameHeader:]
	if unknown, ok := openEnvelope(message); ok {
		message = unknown
	}
	return event, event.Unmarshal(message) == nil
}

// openEnvelope returns what is inside of a runtime.Unknown behind its magic.
func openEnvelope(data []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(data, []byte(protobufMagic))
	if !ok {
		return nil, false
	}
	var unknown runtime.Unknown
	if unknown.Unmarshal(rest) != nil {
		return nil, false
	}
	return unknown.Raw, true
}

func (protobufFrames) kind(frame []byte) string {
	event, ok := decodeEvent(frame)
	if !ok {
		return ""
	}
	return event.Type
}

func (protobufFrames) metadata(frame []byte) metav1.ObjectMeta {
	event, ok := decodeEvent(frame)
	if !ok {
		return metav1.ObjectMeta{}
	}
	raw, ok := openEnvelope(event.Object.Raw)
	if !ok {
		return metav1.ObjectMeta{}
	}
	var object metav1.PartialObjectMetadata
	if object.Unmarshal(raw) != nil { // the metadata are field 1 of every kind; the other fields are skipped
		return metav1.ObjectMeta{}
	}
	return object.ObjectMeta
}

func (protobufFrames) errorEvent(s metav1.Status) []byte {
	raw, err := s.Marshal()
	if err != nil {
		return nil // a Status has nothing that could fail to marshal
	}
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "Status"}, Raw: raw}
	envelope, err := unknown.Marshal()
	if err != nil {
		return nil
	}
	object := append([]byte(protobufMagic), envelope...)
	event := metav1.WatchEvent{Type: string(watch.Error), Object: runtime.RawExtension{Raw: object}}
	message, err := event.Marshal()
	if err != nil {
		return nil
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
}
