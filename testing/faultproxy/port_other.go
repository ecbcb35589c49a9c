// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package faultproxy

// reservePort reserves nothing where a bound socket would keep a listener from its port. TCP.Refuse says what that means.
func reservePort() (port int, release func() error, err error) {
	return 0, func() error { return nil }, nil
}
