// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package main

import (
	"errors"
	"os"
)

// lockFile has no lock to offer here, so that no command is ever run.
func lockFile(string) (*os.File, error) { return nil, errors.ErrUnsupported }
