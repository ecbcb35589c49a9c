// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

func reconcilesRow() row {
	const controller = "{{job}}: {{controller}}"
	byController := "namespace, job, controller"
	return row{"Reconciles: does the program get on?", []panel{
		{
			title:       "Running",
			description: "Reconciles that run now, for each controller. As many as there are workers, for long: work is waiting.",
			unit:        "short", width: 8,
			queries: []query{{"sum by (" + byController + ") (freshwatch_reconcile_running{" + selected + "})", controller}},
		},
		{
			title:       "Wedged",
			description: "Reconciles that do not return though their context has ended: each is a worker lost. The log line \"Reconcile is wedged\" has the object and the stack.",
			unit:        "short", width: 8,
			queries: []query{{"sum by (" + byController + ") (freshwatch_reconcile_wedged{" + selected + "})", controller}},
		},
		{
			title:       "Oldest that runs",
			description: "Its age, beside the deadline after which its context ends.",
			unit:        "s", width: 8,
			queries: []query{
				{"max by (" + byController + ") (freshwatch_reconcile_oldest_running_seconds{" + selected + "})", controller},
				{"max by (" + byController + ") (freshwatch_reconcile_deadline_seconds{" + selected + "})", controller + " deadline"},
			},
		},
		{
			title:       "Overruns, wedges, held twice",
			description: "Reconciles that were not done within their deadline, that became wedged, and requests put back because the object was being reconciled already.",
			unit:        "short", width: 8, shape: asBars,
			queries: []query{
				{increase(byController, "freshwatch_reconcile_deadline_overruns_total", selected), controller + " overruns"},
				{increase(byController, "freshwatch_reconcile_wedges_total", selected), controller + " wedges"},
				{increase(byController, "freshwatch_reconcile_held_twice_total", selected), controller + " held twice"},
			},
		},
		{
			title:       "Restarts",
			description: "Restarts that were asked for because of wedged reconciles, and 1 while too many have not helped.",
			unit:        "short", width: 8,
			queries: []query{
				{increase(byController, "freshwatch_reconcile_restarts_asked_total", selected), controller + " asked for"},
				{"max by (" + byController + ") (freshwatch_reconcile_restart_budget_exhausted{" + selected + "})", controller + " used up"},
			},
		},
		{
			title:       "Gates: requests held, and let through",
			description: "Requests that went back to the queue because what the controller reads is stale, and reconciles let through all the same after GateOptions.MaxHold.",
			unit:        "short", width: 8, shape: asBars,
			queries: []query{
				{increase(byController, "freshwatch_reconcile_gate_requeues_total", selected), controller + " held"},
				{increase(byController, "freshwatch_reconcile_gate_overrides_total", selected), controller + " let through"},
			},
		},
		{
			title:       "Gates",
			description: "Closed while a kind that the controller reads is known to be stale: it does nothing then.",
			unit:        "none", width: 24, shape: asStates, states: []state{{"open", well}, {"closed", worst}},
			queries: []query{{"max by (" + byController + ", exported_namespace, group, resource) (freshwatch_reconcile_gate_closed{" + informers + "}) + 1", controller + " reads {{resource}}"}},
		},
	}}
}
