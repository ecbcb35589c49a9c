// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package page holds the tests of package debugpage in a real, headless Chromium: what it
// looks like on a phone and at night, what a keyboard reaches and a screen reader is told,
// and that its refreshing disturbs nobody. It exports nothing, and is a module of its own,
// since the driver of a browser has no place in a library's requirements.
//
//	make browser                       # finds a Chromium, or installs Debian's
//	cd testing/page && go test ./...   # a minute
//
// FRESHWATCH_CHROMIUM names a Chromium that is not on the PATH.
//
// Its command screenshots makes those in the documents, of a real stall on a real control
// plane.
package page
