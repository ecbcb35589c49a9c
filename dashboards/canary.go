// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

// canaryStates are those of package watchcanary, the worst last.
func canaryStates() []state {
	return []state{
		{"Standby", nothing}, {"Fresh", well}, {"Pending", unknown}, {"Blind", doubt}, {"ControlPlaneStalled", worst}, {"Stalled", worst},
	}
}

func canaryRow() row {
	return row{"Canary: does a write come back?", []panel{
		{
			title:       "State",
			description: "The worst state of a canary's replicas. Standby alone: nobody leads. Blind: writes fail, the log line \"Watch canary changed\" has the reason. Stalled: a write was acknowledged and does not come back.",
			unit:        "none", width: 24, shape: asStates, states: canaryStates(),
			queries: []query{{stateOf(byLease, "freshwatch_canary_state", "state", selected, canaryStates()), leaseLegend}},
		},
		{
			title:       "Round trips",
			description: "How long writes took to come back over the watch: milliseconds on a healthy cluster, minutes where a stall was healed.",
			unit:        "s", width: 12, shape: asHeatmap,
			queries: []query{{increase("le", "freshwatch_canary_round_trip_seconds_bucket", selected), "{{le}}"}},
		},
		{
			title:       "Round trips, quantiles",
			description: "The median, and 99 of 100, for each Lease, over an hour: there is but one write a minute.",
			unit:        "s", width: 12,
			queries: []query{
				{"histogram_quantile(0.5, sum by (" + byLease + ", le) (increase(freshwatch_canary_round_trip_seconds_bucket{" + selected + "}[1h])))", leaseLegend + " median"},
				{"histogram_quantile(0.99, sum by (" + byLease + ", le) (increase(freshwatch_canary_round_trip_seconds_bucket{" + selected + "}[1h])))", leaseLegend + " 99 %"},
			},
		},
		{
			title:       "Oldest write that has not come back",
			description: "Its age. After FailAfter, 5 min by default, liveness fails, as long as restarts are left.",
			unit:        "s", width: 8,
			queries: []query{{"max by (" + byLease + ") (freshwatch_canary_oldest_unseen_write_seconds{" + selected + "})", leaseLegend}},
		},
		{
			title:       "Writes",
			description: "Writes of the Lease, by how they ended. forbidden: a right is missing. conflict and contended: somebody else writes it. timeout and error: the API server.",
			unit:        "short", width: 8, shape: asBars,
			queries: []query{{increase(byLease+", result", "freshwatch_canary_writes_total", selected), leaseLegend + " {{result}}"}},
		},
		{
			title:       "Restarts, and missing rights",
			description: "Restarts that were asked for, 1 while too many have not helped, and how many verbs on the Lease a process lacks. The log has the RBAC rule to add.",
			unit:        "short", width: 8,
			queries: []query{
				{increase(byLease, "freshwatch_canary_restarts_asked_total", selected), leaseLegend + " restarts asked for"},
				{"max by (" + byLease + ") (freshwatch_canary_restart_budget_exhausted{" + selected + "})", leaseLegend + " used up"},
				{"max by (" + byLease + ") (freshwatch_canary_missing_rights{" + selected + "})", leaseLegend + " missing rights"},
			},
		},
	}}
}
