// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package controlplane

import (
	"context"
	"errors"
	"runtime"
	"syscall"
)

var errUnsupported = errors.New("controlplane: not supported on " + runtime.GOOS + ": needs Linux or macOS")

func supported() error { return errUnsupported }

func ownGroup() *syscall.SysProcAttr { return nil }

func killGroup(int) error { return errUnsupported }

func continueGroup(int) error { return errUnsupported }

func stopGroup(context.Context, int) error { return errUnsupported }
