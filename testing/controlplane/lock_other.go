// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package controlplane

import "context"

func lockFile(context.Context, string, func(holder string)) (unlock func(), err error) {
	return nil, errUnsupported
}

func tryLock(string) (unlock func(), err error) { return nil, errUnsupported }
