// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package secrets looks for secrets in everything that a guarded operator tells: logs,
// page, JSON, metrics, Events, probes, the flight recorder and the termination message. The
// operator holds a token, caches Secrets, has selectors and a proxy's key in its requests'
// queries, and goes through faults that make it talk.
package secrets
