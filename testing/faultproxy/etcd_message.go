// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"encoding/binary"
	"errors"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// watchMethod is the one gRPC method whose messages are looked at.
const watchMethod = "/etcdserverpb.Watch/Watch"

// broadcastID stands for all watches of a stream, in answers to a request for progress.
const broadcastID = -1

// Field numbers, from etcd's rpc.proto and kv.proto (read at v3.7).
const (
	requestCreate, requestCancel = 1, 2 // WatchRequest
	createKey                    = 1    // WatchCreateRequest
	cancelID                     = 1    // WatchCancelRequest
	responseHeader, responseID   = 1, 2 // WatchResponse
	responseCreated              = 3
	responseCanceled             = 4
	responseCompact              = 5
	responseEvents               = 11
	headerRevision               = 3 // ResponseHeader
	eventKV, kvKey               = 2, 1
)

// envelopeSize is what gRPC puts before each message: a flag and a length.
const envelopeSize = 5

// messageLimit is far above etcd's limit for a request; a longer message means that this is not gRPC.
const messageLimit = 512 << 20

var errNotGRPC = errors.New("not a gRPC message")

// readMessage returns the next gRPC message with its envelope.
func readMessage(r io.Reader) ([]byte, error) {
	var envelope [envelopeSize]byte
	if _, err := io.ReadFull(r, envelope[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(envelope[1:])
	if size > messageLimit {
		return nil, errNotGRPC
	}
	message := make([]byte, envelopeSize+int(size))
	copy(message, envelope[:])
	_, err := io.ReadFull(r, message[envelopeSize:])
	return message, err
}

// envelop puts a message into its envelope.
func envelop(payload []byte) []byte {
	out := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(payload)))
	return append(out, payload...)
}

// watchResponse is what matters in a WatchResponse.
type watchResponse struct {
	raw       []byte // with the envelope
	header    []byte // of the response, encoded
	revision  int64
	watchID   int64
	created   bool
	canceled  bool
	compacted bool
	events    int
}

// progress reports whether the response tells nothing but a revision.
func (m *watchResponse) progress() bool {
	return m.events == 0 && !m.created && !m.canceled && !m.compacted
}

// eachField calls f with each field of a message: its number, its value (for messages and bytes) or its number (for
// varints), and its whole encoding.
func eachField(message []byte, f func(num protowire.Number, value []byte, varint uint64, whole []byte)) error {
	for len(message) > 0 {
		num, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		size := protowire.ConsumeFieldValue(num, typ, message[n:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		var value []byte
		var varint uint64
		if typ == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(message[n:])
		}
		if typ == protowire.VarintType {
			varint, _ = protowire.ConsumeVarint(message[n:])
		}
		f(num, value, varint, message[:n+size])
		message = message[n+size:]
	}
	return nil
}

// parseResponse reads a WatchResponse. What is compressed cannot be read.
func parseResponse(raw []byte) (*watchResponse, error) {
	m := &watchResponse{raw: raw}
	if len(raw) < envelopeSize || raw[0] != 0 {
		return m, errNotGRPC
	}
	err := eachField(raw[envelopeSize:], func(num protowire.Number, value []byte, varint uint64, _ []byte) {
		switch num {
		case responseHeader:
			m.header = value
		case responseID:
			m.watchID = int64(varint)
		case responseCreated:
			m.created = varint != 0
		case responseCanceled:
			m.canceled = varint != 0
		case responseCompact:
			m.compacted = varint != 0
		case responseEvents:
			m.events++
		default: // nothing that faults go by
		}
	})
	if err != nil {
		return m, err
	}
	return m, eachField(m.header, func(num protowire.Number, _ []byte, varint uint64, _ []byte) {
		if num == headerRevision {
			m.revision = int64(varint)
		}
	})
}

// progressFor returns a progress notification for one watch, with the header of another that was for all.
func (m *watchResponse) progressFor(id int64) []byte {
	payload := protowire.AppendTag(nil, responseHeader, protowire.BytesType)
	payload = protowire.AppendBytes(payload, m.header)
	if id != 0 {
		payload = protowire.AppendTag(payload, responseID, protowire.VarintType)
		payload = protowire.AppendVarint(payload, uint64(id))
	}
	return envelop(payload)
}

// withoutEvents returns the response without the events that drop says are to be lost, nil if none is left, and how many
// were lost.
func (m *watchResponse) withoutEvents(drop func(key string) bool) ([]byte, int) {
	var payload []byte
	lost := 0
	err := eachField(m.raw[envelopeSize:], func(num protowire.Number, value []byte, _ uint64, whole []byte) {
		if num == responseEvents && drop(eventKey(value)) {
			lost++
			return
		}
		payload = append(payload, whole...)
	})
	switch {
	case err != nil || lost == 0:
		return m.raw, 0
	case lost == m.events:
		return nil, lost
	default:
		return envelop(payload), lost
	}
}

func eventKey(event []byte) (key string) {
	_ = eachField(event, func(num protowire.Number, kv []byte, _ uint64, _ []byte) {
		if num != eventKV {
			return
		}
		_ = eachField(kv, func(num protowire.Number, value []byte, _ uint64, _ []byte) {
			if num == kvKey {
				key = string(value)
			}
		})
	})
	return key
}
