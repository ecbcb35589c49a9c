// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// A stall, a wedged reconcile, connections that are refused and a dead credential: after
// each, nothing that is told holds what is secret, and at the end everything was told.
func TestNothingSecretIsTold(t *testing.T) {
	realplane.Test(t)
	o := newOperator(t, sharedPlane.Get(t))
	o.secret(t, "first")
	fresh := func() bool {
		s := o.guard.Recorder().Snapshot()
		return s.Healthy && strings.HasPrefix(s.Diagnosis, "All ")
	}
	await(t, "all is well", fresh)

	silence := o.api.Inject(faultproxy.Match{Verb: "watch", Resource: "secrets", Namespace: o.ns}, faultproxy.Silence{OnlyOpen: true})
	if silence.Hits() != 1 {
		t.Fatalf("silenced %d watches", silence.Hits())
	}
	o.secret(t, "second")
	await(t, "the stall is found and healed", func() bool { return len(o.guard.Recorder().Incidents()) > 0 && fresh() })

	o.secret(t, "wedges")
	await(t, "a check fails", func() bool { return o.guard.Deadlines().Check(nil) != nil })
	probe := o.guard.Deadlines().Check(nil).Error()
	close(o.wedge)

	refusal := o.tcp.Refuse()
	o.tcp.Reset()
	await(t, "it is unreachable", func() bool {
		for _, st := range o.guard.Monitor().Status() {
			if st.Verdict == freshness.Unreachable {
				return true
			}
		}
		return false
	})
	told := map[string]string{"page while unreachable": get(o.page, pagePath, "text/html"), "JSON while unreachable": get(o.page, pagePath, "application/json")}
	refusal.Lift()
	await(t, "it recovers", fresh)
	events := func() string {
		list, err := o.plane.Typed.CoreV1().Events(o.ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	await(t, "Events tell of it", func() bool { return strings.Contains(events(), "Informer") })

	o.api.Inject(faultproxy.Match{}, faultproxy.Status{Code: 401})
	o.tcp.Reset()
	await(t, "it exits", func() bool { return len(o.exited) == 1 })
	message, err := os.ReadFile(o.message)
	if err != nil {
		t.Fatal(err)
	}
	var recorded strings.Builder
	if _, err := o.guard.Recorder().WriteTo(&recorded); err != nil {
		t.Fatal(err)
	}
	maps.Copy(told, map[string]string{
		"log": logged.String(), "page": get(o.page, pagePath, "text/html"), "JSON": get(o.page, pagePath, "application/json"), "metrics": o.metrics(t),
		"Events": events(), "termination message": string(message), "flight recorder": recorded.String(), "probe": probe,
	})
	// What has to be there, or there was nothing to be searched.
	for what, has := range map[string]string{
		"log": "Exiting, because of a dead credential", "page": "secrets/v1", "JSON": `"diagnosis"`, "metrics": "freshwatch_informer_verdict",
		"Events": "Informer", "termination message": "system:serviceaccount:" + o.ns, "flight recorder": "diagnosis: ", "probe": "wedged",
		"page while unreachable": "Unreachable", "JSON while unreachable": "Unreachable",
	} {
		if !strings.Contains(told[what], has) {
			t.Errorf("%s does not hold %q: %.2000s", what, has, told[what])
		}
	}
	for _, line := range []string{"What the flight recorder holds", "Reconcile is wedged"} {
		if !strings.Contains(told["log"], line) {
			t.Errorf("the log lacks %q", line)
		}
	}
	for what, text := range told {
		t.Logf("%s: %d bytes", what, len(text))
		for line := range strings.SplitSeq(text, "\n") {
			if found := o.hide.in(line); len(found) > 0 {
				t.Errorf("%s holds %s: %.600s", what, strings.Join(found, ", "), line)
			}
		}
	}
}
