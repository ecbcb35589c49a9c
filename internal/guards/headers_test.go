// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"strings"
	"testing"
)

const licenceHeader = "// SPDX-FileCopyrightText: The Freshwatch Authors\n" +
	"// SPDX-License-Identifier: Apache-2.0\n"

// hasHeader reports whether a Go file starts with the licence header, set apart
// by an empty line so that it never becomes the package's documentation.
func hasHeader(source string) bool {
	rest, ok := strings.CutPrefix(source, licenceHeader)
	return ok && strings.HasPrefix(rest, "\n")
}

func TestGoFilesNameTheirLicence(t *testing.T) {
	for _, name := range withExt(repoFiles(t), ".go") {
		if !hasHeader(readFile(t, name)) {
			t.Errorf("%s does not start with these two lines and an empty one:\n%s", name, licenceHeader)
		}
	}
}

func TestHasHeader(t *testing.T) {
	for _, tc := range []struct {
		name   string
		source string
		want   bool
	}{
		{"complete", licenceHeader + "\npackage p\n", true},
		{"absent", "package p\n", false},
		{"first line only", "// SPDX-FileCopyrightText: The Freshwatch Authors\n\npackage p\n", false},
		{"after a build constraint", "//go:build linux\n\n" + licenceHeader + "\npackage p\n", false},
		{"joined to the package clause", licenceHeader + "package p\n", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := hasHeader(tc.source); got != tc.want {
				t.Errorf("hasHeader(%q) = %t, want %t", tc.source, got, tc.want)
			}
		})
	}
}
