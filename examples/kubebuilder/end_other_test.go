// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package kubebuilder

import "syscall"

func endWithTest() *syscall.SysProcAttr { return nil }
