// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package prometheus holds the tests of the alert rules, the recording rules and the
// dashboard on a real Prometheus, which scrapes real operators: on a real control plane,
// each behind a proxy that makes its faults. It exports nothing.
//
//	go test ./testing/prometheus          # about a minute and a half
//	go test ./testing/prometheus -short   # what needs no server
//
// Prometheus comes from "make prometheus", which builds it if need be: minutes, once.
//
// FRESHWATCH_RECORD=1 has TestRecord make the faults at the defaults of all options, for
// half an hour, and write what was scraped into alerts/recorded_test.yaml, where promtool
// runs the alerts over it. That is "make record".
package prometheus
