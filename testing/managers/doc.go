// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package managers has no code, only tests: that a monitor keeps up with what
// operators do to their caches. Informers come and go while a manager runs, a cache
// is made of several namespaces, a process has several managers or several clusters.
// Whatever the constellation, each informer is proven fresh, a stall is blamed on the
// one that has it, and series and goroutines end with their informer.
package managers
