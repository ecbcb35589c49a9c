// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a WatchResponse with a header, an id and these further fields.
func message(fields ...protowire.Number) []byte {
	b := protowire.AppendTag(nil, 1, protowire.BytesType)
	b = protowire.AppendBytes(b, []byte("header"))
	b = protowire.AppendTag(b, 2, protowire.VarintType)
	b = protowire.AppendVarint(b, 7)
	for _, f := range fields {
		b = protowire.AppendTag(b, f, protowire.BytesType)
		b = protowire.AppendBytes(b, []byte("x"))
	}
	return b
}

func framed(messages ...[]byte) []byte {
	var out []byte
	for _, m := range messages {
		out = append(out, 0)
		out = binary.BigEndian.AppendUint32(out, uint32(len(m)))
		out = append(out, m...)
	}
	return out
}

func TestWithoutProgress(t *testing.T) {
	const created, events = 3, 11
	all := framed(message(created), message(), message(events), message())
	for _, tc := range []struct {
		muted bool
		want  []byte
	}{
		{false, all},
		{true, framed(message(created), message(events))},
	} {
		var muted atomic.Bool
		muted.Store(tc.muted)
		got, err := io.ReadAll(&withoutProgress{ReadCloser: io.NopCloser(bytes.NewReader(all)), muted: &muted})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, tc.want) {
			t.Errorf("muted %t: got %x, want %x", tc.muted, got, tc.want)
		}
	}
}
