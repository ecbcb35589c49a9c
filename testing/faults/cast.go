// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

// cast are the informers of a row: guarded ones, and a stock one beside them. They
// may be in another process.
type cast interface {
	snapshot() snapshot
	// close stops them and waits until they have.
	close() error
}
