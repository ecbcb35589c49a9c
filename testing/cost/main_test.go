// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// TestMain is one of the measured processes when the command under test asks for
// it.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == childCommand {
		if err := command(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	klog.SetLogger(logr.Discard())
	freshtest.PrepareBubbles()
	goleak.VerifyTestMain(m)
}
