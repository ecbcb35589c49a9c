// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package freshness

// slowdown is none without the race detector.
const slowdown = 1
