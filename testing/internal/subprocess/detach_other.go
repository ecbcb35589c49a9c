// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package subprocess

import "os/exec"

func detach(*exec.Cmd) {}
