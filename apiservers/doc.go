// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package apiservers asks each of the API servers behind one address where its
// watch cache for a kind stands, so that a frozen one can be named.
package apiservers
