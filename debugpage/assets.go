// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"strings"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed icons.html
	iconsHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// parse returns the template of the page.
func parse() (*template.Template, error) {
	t, err := template.New("icons").Funcs(template.FuncMap{"number": number[int]}).Parse(iconsHTML)
	if err != nil {
		return nil, err
	}
	return t.New("page").Parse(pageHTML)
}

// policy allows what the page is made of, by its hash, and nothing else: whatever a name
// of an object may hold, no browser runs it, and nothing is sent anywhere.
func policy() string {
	return strings.Join([]string{
		"default-src 'none'",
		"script-src " + hash(pageJS),
		"style-src " + hash(pageCSS),
		"img-src data:", // the icon of the tab
		"connect-src 'self'",
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
	}, "; ")
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
