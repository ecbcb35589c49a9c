// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package freshness

// slowdown is what the race detector costs the model, which is one goroutine for each
// informer and has little to show it.
const slowdown = 8
