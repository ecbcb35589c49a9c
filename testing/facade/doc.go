// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package facade holds tests that package freshwatch hides nothing: an operator that is
// put together from single packages is given the same on a real API server. It exports
// nothing.
package facade
