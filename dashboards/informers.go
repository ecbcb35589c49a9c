// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

// verdicts are those of package freshness, the worst last.
func verdicts() []state {
	return []state{
		{"Fresh", well}, {"Syncing", unknown}, {"Blind", nothing}, {"Unreachable", nothing},
		{"Suspect", doubt}, {"Diverged", bad}, {"ControlPlaneStalled", worst}, {"Stalled", worst},
	}
}

func informersRow() row {
	bound := "max by (" + byKind + ") (freshwatch_informer_staleness_bound_seconds{" + informers + "})"
	return row{"Informers: is what the program reads up to date?", []panel{
		{
			title:       "Verdict",
			description: "The worst verdict of a program's replicas, for each kind. Stalled: the API server has changes that the cache lacks. ControlPlaneStalled: the API server itself does not get them, and no restart helps. Suspect for some seconds is ordinary. Blind and Unreachable say that nobody can tell.",
			unit:        "none", width: 24, shape: asStates, states: verdicts(),
			queries: []query{{stateOf(byKind, "freshwatch_informer_verdict", "verdict", informers, verdicts()), kindLegend}},
		},
		{
			title:       "Staleness bound",
			description: "How old the newest proof is that a cache holds every change, in the worst replica: what a program may be behind, at most. A quiet informer goes up to a minute and begins anew; one that goes on rising is not proven any more. The limit is the variable above: set it to your Options.MaxStaleness.",
			unit:        "s", width: 12, limit: true,
			queries: []query{{bound, kindLegend}, {"vector($limit)", "limit"}},
		},
		{
			title:       "Share of time within the limit",
			description: "For what share of the last hour the bound of every replica was within the limit: put your objective on it. The recording rule job_resource:freshwatch_informer_within_limit:bool has it for the default limit, over any time.",
			unit:        "percentunit", width: 12,
			queries: []query{{"avg_over_time((" + bound + " <= bool $limit)[1h:1m])", kindLegend}},
		},
		{
			title:       "Cures",
			description: "What was tried on informers whose proof was overdue. resume costs one request. relist and list, again and again: watches bring nothing, and the program lives from lists. reconnect: all connections were given up.",
			unit:        "short", width: 8, shape: asBars,
			queries: []query{{increase("job, resource, cure", "freshwatch_informer_cures_total", informers), "{{job}}: {{resource}} {{cure}}"}},
		},
		{
			title:       "Proofs",
			description: "Proofs that succeeded, some one a minute for each informer and more where much is written, and those that were overdue, each the start of a search for the cause.",
			unit:        "short", width: 8,
			queries: []query{
				{increase("job", "freshwatch_informer_proofs_total", informers), "{{job}} succeeded"},
				{increase("job", "freshwatch_informer_overdue_proofs_total", informers), "{{job}} overdue"},
			},
		},
		{
			title:       "Objects that differ",
			description: "Objects that the last audit found to differ from the API server's: events were lost, and a relist is under way. Audits that fail say nothing.",
			unit:        "short", width: 8,
			queries: []query{
				{"max by (" + byKind + ") (freshwatch_informer_diverged_objects{" + informers + "})", kindLegend},
				{increase("job", "freshwatch_informer_audits_failed_total", informers), "{{job}} audits failed"},
			},
		},
		{
			title:       "Handlers: busy with one notification",
			description: "For how long an event handler has been busy with the same notification; all later ones wait behind it. Only handlers that were added with Monitor.AddEventHandler are measured.",
			unit:        "s", width: 12,
			queries: []query{{"max by (" + byKind + ") (freshwatch_informer_handler_blocked_seconds{" + informers + "})", kindLegend}},
		},
		{
			title:       "Handlers: notifications that wait",
			description: "Notifications that wait for handlers which are busy. It may rise after a list; what does not come down again is a handler that is too slow, or blocks.",
			unit:        "short", width: 12,
			queries: []query{{"max by (" + byKind + ") (freshwatch_informer_pending_notifications{" + informers + "})", kindLegend}},
		},
	}}
}
