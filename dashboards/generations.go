// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

func generationsRow() row {
	return row{"Generations: is every edit acted on?", []panel{
		{
			title:       "Objects that lag",
			description: "Objects whose newest generation their controller has not observed for longer than GenerationOptions.Limit. It is told by live reads, whatever caches and health checks say. Read on the leader.",
			unit:        "short", width: 8,
			queries: []query{{"max by (" + byKind + ") (freshwatch_generation_lagging_objects{" + informers + "})", kindLegend}},
		},
		{
			title:       "For how long",
			description: "For how long the first of the lagging objects has been seen to lag.",
			unit:        "s", width: 8,
			queries: []query{{"max by (" + byKind + ") (freshwatch_generation_oldest_lag_seconds{" + informers + "})", kindLegend}},
		},
		{
			title:       "Objects, and those not observed at this moment",
			description: "All objects of the kind, and those whose generation was not observed at the last read: some are ordinary while objects are edited.",
			unit:        "short", width: 8,
			queries: []query{
				{"max by (" + byKind + ") (freshwatch_generation_objects{" + informers + "})", kindLegend},
				{"max by (" + byKind + ") (freshwatch_generation_trailing_objects{" + informers + "})", kindLegend + " not observed"},
			},
		},
		{
			title:       "From edit to report",
			description: "How long edits took to be observed, by managed fields, to the second: the median, and 99 of 100, over an hour.",
			unit:        "s", width: 12,
			queries: []query{
				{"histogram_quantile(0.5, sum by (" + byKind + ", le) (increase(freshwatch_generation_propagation_seconds_bucket{" + informers + "}[1h])))", kindLegend + " median"},
				{"histogram_quantile(0.99, sum by (" + byKind + ", le) (increase(freshwatch_generation_propagation_seconds_bucket{" + informers + "}[1h])))", kindLegend + " 99 %"},
			},
		},
		{
			title:       "Since the last complete read",
			description: "What is known is that old. After 20 min a lag would not be noticed: the log line \"Generations cannot be read\" has the error.",
			unit:        "s", width: 12,
			queries: []query{{"max by (" + byKind + ") (freshwatch_generation_read_age_seconds{" + informers + "})", kindLegend}},
		},
	}}
}
