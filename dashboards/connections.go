// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

func connectionsRow() row {
	return row{"Connections and streams: is the way to the API server sound?", []panel{
		{
			title:       "Open watches",
			description: "Watches that are open, for each kind. One for each informer is right; none is a program that does not hear of changes.",
			unit:        "short", width: 12,
			queries: []query{{"sum by (" + byKind + ") (freshwatch_transport_watches{" + informers + "})", kindLegend}},
		},
		{
			title:       "Ends of lists and watches",
			description: "Why they ended. server, client, status and renewed are ordinary; so is idle, where nothing proves quiet kinds. ping, age, headers and stalled: something on the way went silent, and was given up. connection: it broke.",
			unit:        "short", width: 12, shape: asBars,
			queries: []query{{increase("job, verb, reason", "freshwatch_transport_streams_ended_total", selected) + " > 0", "{{job}}: {{verb}} {{reason}}"}},
		},
		{
			title:       "Connections",
			description: "Connections that are open: one for each http.Client, mostly one for each process.",
			unit:        "short", width: 8,
			queries: []query{{"sum by (namespace, job) (freshwatch_transport_connections{" + selected + "})", "{{job}}"}},
		},
		{
			title:       "Connections: opened, lost, given up",
			description: "Connections opened, those that could not be, those that did not answer a PING, and those that were closed to have new ones. Many lost ones: a load balancer or proxy drops flows without a word.",
			unit:        "short", width: 8, shape: asBars,
			queries: []query{
				{increase("job", "freshwatch_transport_connections_opened_total", selected), "{{job}} opened"},
				{increase("job", "freshwatch_transport_dial_errors_total", selected), "{{job}} dial errors"},
				{increase("job", "freshwatch_transport_pings_lost_total", selected), "{{job}} pings lost"},
				{increase("job", "freshwatch_transport_connections_recycled_total", selected), "{{job}} recycled"},
			},
		},
		{
			title:       "Refused credential",
			description: "For how long a program's credential has been answered with 401 and nothing else. By default it exits after 90 s, where it is asked to; a Pod whose ServiceAccount was created anew has to be deleted.",
			unit:        "s", width: 8,
			queries: []query{{"max by (namespace, job) (freshwatch_transport_unauthorized_seconds{" + selected + "})", "{{job}}"}},
		},
		{
			title:       "Time until a response begins",
			description: "How long lists and watches waited for their response to begin: median, and 99 of 100. Seconds are an API server that is overloaded, or whose watch cache is behind.",
			unit:        "s", width: 24,
			queries: []query{
				{quantile(0.5, "job, verb", "freshwatch_transport_header_wait_seconds", selected), "{{job}}: {{verb}} median"},
				{quantile(0.99, "job, verb", "freshwatch_transport_header_wait_seconds", selected), "{{job}}: {{verb}} 99 %"},
			},
		},
	}}
}
