// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

func costRow() row {
	rate := func(by, metric, selector string) string {
		return "sum by (" + by + ") (rate(" + metric + "{" + selector + "}[$__rate_interval]))"
	}
	return row{"What it costs", []panel{
		{
			title:       "Requests",
			description: "Requests that freshwatch itself makes, for each program: proofs (one list that returns nothing, a minute and informer), reads of generations, and writes of the canary.",
			unit:        "reqps", width: 12,
			queries: []query{
				{rate("namespace, job", "freshwatch_informer_reads_total", informers), "{{job}} proofs"},
				{rate("namespace, job", "freshwatch_generation_reads_total", informers), "{{job}} generations"},
				{rate("namespace, job", "freshwatch_canary_writes_total", selected), "{{job}} canary"},
			},
		},
		{
			title:       "Watches renewed",
			description: "Watches renewed to have a proof in time: none for quiet informers at the default MaxStaleness, two requests each where it is less.",
			unit:        "reqps", width: 6,
			queries: []query{{rate("namespace, job", "freshwatch_informer_renewals_total", informers), "{{job}}"}},
		},
		{
			title:       "Audits",
			description: "Comparisons of contents, each a list of a kind's metadata: one an hour for each informer by default.",
			unit:        "short", width: 6, shape: asBars,
			queries: []query{{increase("job, resource", "freshwatch_informer_audits_total", informers), "{{job}}: {{resource}}"}},
		},
	}}
}
