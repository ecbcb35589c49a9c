// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"encoding/binary"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// watchUpload looks at what a client sends on a Watch stream, without changing it, to learn which watch has which key.
type watchUpload struct {
	io.ReadCloser
	stream *watchStream
	buf    []byte
}

// Read reads from the client. A message is heeded before its last byte is passed on, so that it is known by the time that
// etcd answers.
func (u *watchUpload) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	u.buf = append(u.buf, p[:n]...)
	for len(u.buf) >= envelopeSize {
		end := envelopeSize + int(binary.BigEndian.Uint32(u.buf[1:envelopeSize]))
		if len(u.buf) < end {
			break
		}
		u.heed(u.buf[envelopeSize:end])
		u.buf = u.buf[end:]
	}
	return n, err
}

func (u *watchUpload) heed(request []byte) {
	_ = eachField(request, func(num protowire.Number, value []byte, _ uint64, _ []byte) {
		switch num {
		case requestCreate:
			var key string
			_ = eachField(value, func(num protowire.Number, value []byte, _ uint64, _ []byte) {
				if num == createKey {
					key = string(value)
				}
			})
			u.stream.creating(key)
		case requestCancel:
			var id int64
			_ = eachField(value, func(num protowire.Number, _ []byte, varint uint64, _ []byte) {
				if num == cancelID {
					id = int64(varint)
				}
			})
			u.stream.canceling(id)
		default: // a request for progress
		}
	})
}
