// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"fmt"
	"strings"
)

// What is shown of texts that may have any length. All is in the JSON.
const (
	nameLimit     = 200
	sentenceLimit = 2000
)

// shown returns at most so many characters of a text, of which nothing is known.
func shown(s string, limit int) string {
	if len(s) <= limit { // in bytes, so in characters too
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	s = strings.ToValidUTF8(s[:min(len(s), 4*limit+4)], "\uFFFD") // which holds more than limit, or all
	n, end := 0, 0
	for i := range s {
		switch n {
		case limit - 1:
			end = i
		case limit:
			return s[:end] + "…"
		}
		n++
	}
	return s
}

// many returns a number with what it counts.
func many[integer int | uint64](n integer, one, more string) string {
	if n == 1 {
		return "1" + space + one
	}
	return number(n) + space + more
}

// number writes thousands apart.
func number[integer int | uint64](n integer) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
