// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"fmt"
	"strings"
)

const (
	// selected are the series of the programs that are looked at.
	selected = `namespace=~"$namespace",job=~"$job"`
	// informers are those of the kinds that are looked at, too.
	informers = selected + `,resource=~"$resource"`

	byKind      = "namespace, exported_namespace, job, group, version, resource"
	kindLegend  = "{{job}}: {{resource}} {{exported_namespace}}"
	byLease     = "lease_namespace, lease"
	leaseLegend = "{{lease_namespace}}/{{lease}}"
)

// stateOf returns a query for one number: that of the first of the states, counted from 1,
// which is worst where several replicas have different ones. Each state is the value of a
// label of a metric that is 1 or 0.
func stateOf(by, metric, label, selector string, of []state) string {
	var terms []string
	for i, s := range of {
		terms = append(terms, fmt.Sprintf("(%s{%s,%s=%q} == 1) * %d", metric, selector, label, s.name, i+1))
	}
	return fmt.Sprintf("max by (%s) (\n  %s\n)", by, strings.Join(terms, "\n  or\n  "))
}

// increase returns a query for what was counted between two points.
func increase(by, metric, selector string) string {
	return fmt.Sprintf("sum by (%s) (increase(%s{%s}[$__rate_interval]))", by, metric, selector)
}

// quantile returns a query for a quantile of a histogram.
func quantile(q float64, by, metric, selector string) string {
	return fmt.Sprintf("histogram_quantile(%v, sum by (%s, le) (rate(%s_bucket{%s}[$__rate_interval])))", q, by, metric, selector)
}
