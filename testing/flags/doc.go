// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package flags holds the test that pflag, which most commands use, takes the flags of
// package freshwatch. It exports nothing, and is a module of its own since the library does
// without pflag.
package flags
