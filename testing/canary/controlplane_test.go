// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/freshwatch/freshwatch/testing/internal/realplane"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// The API server's own watch does not get along: no restart helps, and none is asked
// for.
func TestFrozenDatastore(t *testing.T) {
	realplane.Test(t)
	plane := ownPlane(t)
	d := newDeployment(t, plane)
	p := d.startPod(t, "frozen", podOptions{})
	p.awaitFresh(t)

	frozen := plane.Etcd.FreezeWatches("/registry/leases/")
	noticed := await(t, time.Minute, "noticed", p.is("ControlPlaneStalled"), p)
	holds(t, time.Minute, "the control plane is blamed", p.is("ControlPlaneStalled"), p)
	reason := p.now().reading().Reason
	if frozen.Hits() == 0 {
		t.Error("nothing was frozen")
	}
	frozen.Lift()
	fresh := p.awaitFresh(t)
	holds(t, 4*interval, "fresh", p.is("Fresh"), p)
	// Blind until it is known who lacks the write.
	p.now().wantOnly(t, "Standby", "Pending", "Fresh", "Blind", "ControlPlaneStalled")
	p.wantAlive(t)
	figures(t, map[string]any{"noticedAfter": noticed, "freshAfterThaw": fresh, "reason": reason, "states": p.now().states()})
}

// A namespace that ends does not take a new Lease.
func TestNamespaceTerminates(t *testing.T) {
	realplane.Test(t)
	d := newDeployment(t, sharedPlane.Get(t))
	p := d.startPod(t, "evicted", podOptions{})
	p.awaitFresh(t)

	// There is no controller that would complete it.
	if err := d.plane.Typed.CoreV1().Namespaces().Delete(t.Context(), d.ns, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	holds(t, 2*interval, "fresh", p.is("Fresh"), p)
	if err := d.plane.Typed.CoordinationV1().Leases(d.ns).Delete(t.Context(), watchcanary.DefaultName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	blind := await(t, 3*interval+slack, "blind", p.is("Blind"), p)
	reason := p.now().reading().Reason
	if !strings.Contains(reason, "is being terminated") || !strings.Contains(reason, d.ns) {
		t.Errorf("the reason is %q, want the API server's", reason)
	}
	if got := p.metric(t, "freshwatch_canary_missing_rights"); got != 0 {
		t.Errorf("%v rights are said to be missing", got)
	}
	holds(t, time.Minute, "blind", p.is("Blind"), p)
	p.now().wantOnly(t, "Standby", "Pending", "Fresh", "Blind")
	p.wantAlive(t)
	figures(t, map[string]any{"blindAfter": blind, "reason": reason})
}
