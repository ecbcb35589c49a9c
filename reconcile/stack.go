// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"runtime"
	"strings"
)

const (
	// stacksAtMost bounds the memory that looking for a stack may take: that of some
	// twenty thousand goroutines.
	stacksAtMost = 32 << 20
	// stackAtMost bounds one stack in the log.
	stackAtMost = 16 << 10
)

// call runs f, and is what the stack of its goroutine is found by: a stack shows the
// arguments of a function that is not inlined, here the address of r, which is nobody
// else's as long as f runs. Nothing else of a goroutine can be told from outside at no
// cost for those that need no report.
//
//go:noinline
func (r *running) call(f func()) {
	f()
	runtime.KeepAlive(r) // so that the argument is kept where a stack shows it
}

// stacksByAddress returns what of each stack is the reconciler's, by the address of its
// running as it is printed.
func stacksByAddress(stacks string) map[string]string {
	const marker = ".(*running).call("
	out := map[string]string{}
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		before, after, found := strings.Cut(stack, marker)
		if !found {
			continue
		}
		end := strings.IndexAny(after, ",)?")
		if end < 0 {
			continue
		}
		before = before[:strings.LastIndexByte(before, '\n')+1]
		out[after[:end]] = before[:min(len(before), stackAtMost)]
	}
	return out
}

// allStacks returns the stacks of all goroutines. It stops the program for as long as it
// takes: some 2 us for each.
func allStacks() string {
	for size := 1 << 20; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size || size >= stacksAtMost {
			return string(buf[:n])
		}
	}
}
