// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/testing/internal/realplane"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// An operator whose Role nobody has created. It runs, says which rules to add, and is
// fresh once they are, in the same process.
func TestMissingRole(t *testing.T) {
	realplane.Test(t)
	d := newDeploymentWithoutRole(t, sharedPlane.Get(t))
	p := d.startPod(t, "unprivileged", podOptions{})
	begin := time.Now()
	const said = "{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}, " +
		"{apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [freshwatch-canary], verbs: [get, list, watch, update]}"
	logged := await(t, patience, "the rules are in the log", func() bool { return p.now().logged(said) }, p)
	missing := p.metric(t, "freshwatch_canary_missing_rights")
	if missing != 5 {
		t.Errorf("%v missing rights, want 5", missing)
	}
	await(t, 2*time.Minute+2*interval+slack, "blind", p.is("Blind"), p)
	blind := time.Since(begin)
	if blind < 2*time.Minute-slack {
		t.Errorf("blind after %v: an alert would ring for every start", blind)
	}
	now := p.now().reading()
	if !strings.Contains(now.Reason, said) || !strings.Contains(now.Reason, d.ns) {
		t.Errorf("it says %q, want the rules %s", now.Reason, said)
	}
	verbs := strings.Fields(now.Missing)
	slices.Sort(verbs)
	if diff := cmp.Diff([]string{"create", "get", "list", "update", "watch"}, verbs); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	if got := p.metric(t, "freshwatch_canary_state", `state="Blind"`); got != 1 {
		t.Errorf("the metric of Blind is %v", got)
	}
	p.wantAlive(t)

	d.grant(t, watchcanary.Role(d.ns, watchcanary.DefaultName))
	granted := time.Now()
	fresh := p.awaitLasting(t, "Fresh").Sub(granted)
	await(t, 2*interval+slack, "nothing is missing", func() bool { return p.metric(t, "freshwatch_canary_missing_rights") == 0 }, p)
	p.now().wantOnly(t, "Standby", "Pending", "Fresh", "Blind")
	p.wantAlive(t)
	figures(t, map[string]any{"rulesLoggedAfter": logged, "blindAfter": blind, "missing": missing, "freshAfterRole": fresh, "states": p.now().states()})
}
