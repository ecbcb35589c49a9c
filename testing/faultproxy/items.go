// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"bytes"
	"mime"
)

// itemCounter counts the objects in a list's body while it streams by, without keeping any of it.
type itemCounter interface {
	// count returns how many items begin in the next bytes of the body.
	count(data []byte) int
}

// itemsIn returns a counter for a content type, nil if there is none.
func itemsIn(contentType string) itemCounter {
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
		return nil
	case media == "application/json":
		return &jsonItems{}
	case media == "application/vnd.kubernetes.protobuf":
		return &protobufItems{skip: len(protobufMagic)}
	default:
		return nil
	}
}

// jsonItems counts the objects in the array "items" of the outermost object.
type jsonItems struct {
	depth             int
	inString, escaped bool
	key               []byte // the newest string of the outermost object
	isItems           bool   // the value under way belongs to the key "items"
}

const itemsKey = "items"

func (c *jsonItems) count(data []byte) int {
	items := 0
	for i := 0; i < len(data); i++ {
		b := data[i]
		switch {
		case c.escaped:
			c.escaped = false
		case c.inString:
			i += c.inside(data[i:])
		case b == '"':
			c.inString = true
			c.key = c.key[:0]
		case b == ':' && c.depth == 1:
			c.isItems = string(c.key) == itemsKey
		case b == '{' || b == '[':
			if b == '{' && c.depth == 2 && c.isItems {
				items++
			}
			c.depth++
		case b == '}' || b == ']':
			c.depth--
		}
	}
	return items
}

// inside eats a part of a string and returns how many bytes to advance beyond the first.
func (c *jsonItems) inside(data []byte) int {
	n := bytes.IndexAny(data, `"\`)
	text := data
	if n >= 0 {
		text = data[:n]
	}
	if c.depth == 1 && len(c.key) <= len(itemsKey) {
		c.key = append(c.key, text[:min(len(text), len(itemsKey)+1)]...)
	}
	if n < 0 {
		return len(data) - 1
	}
	c.escaped = data[n] == '\\'
	c.inString = c.escaped
	return n
}

// protobufItems counts the occurrences of field 2 of the message in an envelope: "items" in every list of Kubernetes. The
// envelope is a runtime.Unknown, whose field 2 is the message.
type protobufItems struct {
	skip   int    // bytes to jump over
	varint uint64 // under way
	shift  uint
	size   bool // the varint under way is a length, else a tag, unless it is a value
	value  bool
	tag    uint64
	left   int // bytes left of the list; 0 outside of it
}

// itemsTag is field 2, length-delimited: of the envelope and of the list alike.
const itemsTag = 2<<3 | 2

func (c *protobufItems) count(data []byte) int {
	items := 0
	for len(data) > 0 {
		if c.skip > 0 {
			n := min(c.skip, len(data))
			data = data[n:]
			c.skip -= n
			c.left = max(0, c.left-n)
			continue
		}
		b := data[0]
		data = data[1:]
		c.varint |= uint64(b&0x7f) << c.shift
		c.shift += 7
		inList := c.left > 0
		if inList {
			c.left--
		}
		if b < 0x80 {
			v := c.varint
			c.varint, c.shift = 0, 0
			items += c.field(v, inList)
		}
	}
	return items
}

// field heeds one varint: a tag, a length or a value. It returns 1 if an item begins.
func (c *protobufItems) field(v uint64, inList bool) int {
	switch {
	case c.value:
		c.value = false
	case c.size:
		c.size = false
		if c.tag == itemsTag && !inList {
			c.left = int(v)
			return 0
		}
		c.skip = int(v)
		if c.tag == itemsTag {
			return 1
		}
	default:
		c.tag = v
		switch v & 7 { // the wire type
		case 0:
			c.value = true
		case 1:
			c.skip = 8
		case 2:
			c.size = true
		case 5:
			c.skip = 4
		}
	}
	return 0
}
