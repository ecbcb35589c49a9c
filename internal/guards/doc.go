// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package guards has no code, only tests: the promises of this repository that
// no compiler checks.
//
//   - The core packages stay light: a plain client-go program that takes one of
//     them does not get controller-runtime with it (weight_test.go).
//   - The module can be taken with go get by a program that has nothing yet, and
//     what its go.mod gains is known by name (goget_test.go).
//   - Every Go file says who holds its licence (headers_test.go).
//   - No test sleeps but in a testing/synctest bubble (sleeps_test.go).
//   - Every Go snippet in a Markdown file is a compiled Example, word for word
//     (snippets_test.go), and every relative link leads somewhere (links_test.go).
//   - docs/metrics.md has every series of the library, as its collector describes it
//     (metrics_test.go), no collector is forgotten (forgotten_test.go), and no document
//     or rule names a series that does not exist (mentioned_test.go).
//   - docs/runbook.md has a section for every alert, verdict, state and stage, and quotes
//     only log lines that are written (runbook_test.go).
//   - Every make target describes itself, and make rename leaves a module that
//     still builds (make_test.go).
//
// Each rule is a function of its input, and each has a test of the rule itself:
// an input that breaks it must be reported.
package guards
