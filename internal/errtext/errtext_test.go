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
