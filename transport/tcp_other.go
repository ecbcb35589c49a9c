// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package transport

import "time"

// setUserTimeout does nothing: this system has no such option. Keep-alive probes
// take its place.
func setUserTimeout(uintptr, time.Duration) {}
