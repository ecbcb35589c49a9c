// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package errtext

import (
	"errors"
	"testing"
)

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		`Get "https://10.0.0.1/api/v1/pods?limit=1&token=hunter2": EOF`: `Get "https://10.0.0.1/api/v1/pods": EOF`,
		`Get https://10.0.0.1/api?a=b c?d=e`:                            `Get https://10.0.0.1/api c`,
		"two\n\tlines":                                                  "two lines",
		`is it? "no"`:                                                   `is it? "no"`,
		`is it?`:                                                        `is it?`,
	} {
		if got := OneLine(errors.New(in)); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", in, got, want)
		}
	}
	if got := OneLine(nil); got != "no error" {
		t.Errorf("got %q", got)
	}
}

func TestWithoutValues(t *testing.T) {
	for in, want := range map[string]string{
		`parsing time "hunter2" as "2006-01-02": cannot parse "hunter2" as "2006"`: `parsing time (a value)`,
		`parsing "a \"hunter2\" b": invalid syntax`:                                `parsing (a value): invalid syntax`,
		`parsing time \"hunter2\" as \"2006\": bad`:                                `parsing time \(a value): bad`,
		`json: cannot unmarshal number 4711 into Go struct field .replicas`:        `json: cannot unmarshal (a value) into Go struct field .replicas`,
		`illegal base64 data at input byte 4`:                                      `illegal base64 data at input byte 4`,
	} {
		if got := WithoutValues(in); got != want {
			t.Errorf("WithoutValues(%q) = %q, want %q", in, got, want)
		}
	}
}
