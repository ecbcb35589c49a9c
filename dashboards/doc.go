// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package dashboards makes freshwatch.json, a dashboard for Grafana, from the rows that are
// declared here. README.md says how to import it. After a change:
//
//	go test . -update
package dashboards
