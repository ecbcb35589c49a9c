// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package errtext puts errors of requests into words for logs, pages and probes.
package errtext

import (
	"regexp"
	"strings"
)

// query is that of a URL. It may hold what a proxy or a plugin has added, and continue
// tokens, which hold names of objects.
var query = regexp.MustCompile(`\?[^\s"']*=[^\s"']*`)

// value is what an error of decoding quotes, from its first quote to the last, since what is
// quoted may hold quotes; and a number.
var value = regexp.MustCompile(`".*"|\bnumber \S+`)

// WithoutValues returns a text on one line without what it may quote of an object.
func WithoutValues(text string) string { return value.ReplaceAllString(text, "(a value)") }

// OneLine returns the error's text on one line, with the queries of URLs left out.
func OneLine(err error) string {
	if err == nil {
		return "no error"
	}
	return query.ReplaceAllString(strings.Join(strings.Fields(err.Error()), " "), "")
}
