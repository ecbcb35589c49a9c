// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package kubebuilder

import (
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

const (
	// patience is how long what takes a moment may take on a busy machine.
	patience = time.Minute
	// maxStaleness is the bound that the guarded operator is given, the shortest there is.
	// On top of it come the cure, a second, and what a busy machine adds.
	maxStaleness = 15 * time.Second
	slack        = 10 * time.Second
)

const guestbooks = "guestbooks" // the resource

var guestbookKind = schema.GroupVersionKind{Group: "webapp.example.com", Version: "v1", Kind: "Guestbook"}

// The same operator, with the change and without. A watch of each falls silent.
func TestGuardedBesideStock(t *testing.T) {
	c := newCluster(t)
	c.grantScrapers(t)
	stockProgram, guardedProgram := buildStock(t), buildGuarded(t)
	stock := c.start(t, "stock", stockProgram)
	guarded := c.start(t, "guarded", guardedProgram, "--freshness-max-staleness="+maxStaleness.String(), "--watch-canary-namespace="+c.namespace)
	laptop := c.start(t, "laptop", guardedProgram)
	operators := []*operator{stock, guarded, laptop}
	for _, o := range operators {
		o.awaitReady(t)
	}
	c.edit(t, "first")
	c.awaitReconciles(t, 1, operators...)
	c.edit(t, "second")
	c.awaitReconciles(t, 2, operators...)
	guarded.awaitGuards(t)

	t.Run("flags", func(t *testing.T) { wantFlags(t, guardedProgram) })
	t.Run("probes", func(t *testing.T) { wantProbes(t, stock, guarded) })
	t.Run("metrics", func(t *testing.T) { wantMetrics(t, stock, guarded) })
	t.Run("rights", func(t *testing.T) { c.wantRights(t) })
	t.Run("page", func(t *testing.T) { c.wantPage(t, stock, guarded) })
	t.Run("outside of a pod", func(t *testing.T) { wantNoCanary(t, laptop) })

	begin := time.Now()
	stock.silence(t)
	guarded.silence(t)
	c.edit(t, "third")
	took := waitFor(t, maxStaleness+slack, "the guarded one sees it", func() bool { return guarded.reconciles(t) == 3 })
	c.edit(t, "fourth")
	next := waitFor(t, slack, "the guarded one sees the next", func() bool { return guarded.reconciles(t) == 4 })
	t.Logf("seen after %v, and the next one after %v", took.Round(100*time.Millisecond), next.Round(100*time.Millisecond))

	waitFor(t, patience, "the bound is over", func() bool {
		if n := stock.reconciles(t); n != 2 {
			t.Fatalf("the stock operator has reconciled %v times, and not 2: there was no fault", n)
		}
		return time.Since(begin) > maxStaleness
	})
	for _, r := range guarded.proxy.Requests(faultproxy.Match{Resource: guestbooks}) {
		if n := r.Objects + r.InitialObjects; r.Start.After(begin) && n > 0 {
			t.Errorf("%d objects were listed again, want a watch that is resumed", n)
		}
	}
	for _, o := range operators {
		if n := o.proxy.Counts(faultproxy.Match{}).Responses[http.StatusForbidden]; n != 0 {
			t.Errorf("%s was forbidden %d requests:\n%s", o.name, n, o.log(t))
		}
	}
	wantProbes(t, stock, guarded) // nobody is to be restarted
}

// silence makes the watch of Guestbooks that is open dead, and none that follows.
func (o *operator) silence(t *testing.T) {
	t.Helper()
	waitFor(t, patience, "a watch to silence", func() bool { // there is none while it is renewed
		f := o.proxy.Inject(faultproxy.Match{Verb: "watch", Resource: guestbooks}, faultproxy.Silence{OnlyOpen: true})
		if f.Hits() == 0 {
			f.Lift()
		}
		return f.Hits() > 0
	})
}

// awaitReady waits until the operator has its caches.
func (o *operator) awaitReady(t *testing.T) {
	t.Helper()
	waitFor(t, patience, o.name+" is ready", func() bool {
		if o.hasEnded() {
			t.Fatalf("%s has ended", o.name)
		}
		status, _ := o.probe(t, "/readyz")
		watches := o.proxy.Counts(faultproxy.Match{Verb: "watch", Resource: guestbooks})
		scraped, _ := o.page(t, "/metrics", o.scraper)
		return status == http.StatusOK && scraped == http.StatusOK && watches.Open == 1
	})
}

// awaitReconciles waits until operators have reconciled the object as often as that.
func (c *cluster) awaitReconciles(t *testing.T, n float64, operators ...*operator) {
	t.Helper()
	for _, o := range operators {
		waitFor(t, patience, o.name+" sees an edit", func() bool { return o.reconciles(t) == n })
	}
}

// awaitGuards waits until each guard says that all is well.
func (o *operator) awaitGuards(t *testing.T) {
	t.Helper()
	waitFor(t, patience, "the informer is proven fresh", func() bool {
		return o.sum(t, "freshwatch_informer_verdict", `resource="guestbooks"`, `verdict="Fresh"`) == 1
	})
	waitFor(t, patience, "the canary's writes come back", func() bool {
		return o.sum(t, "freshwatch_canary_state", `state="Fresh"`) == 1
	})
}

func wantProbes(t *testing.T, stock, guarded *operator) {
	t.Helper()
	type probes struct{ Healthz, Readyz []string }
	of := func(o *operator) probes {
		p := probes{o.checks(t, "/healthz"), o.checks(t, "/readyz")}
		slices.Sort(p.Healthz)
		return p
	}
	if diff := cmp.Diff(probes{[]string{"freshness", "healthz", "reconcile", "watch-canary"}, []string{"readyz"}}, of(guarded)); diff != "" {
		t.Errorf("checks of the guarded operator (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(probes{[]string{"healthz"}, []string{"readyz"}}, of(stock)); diff != "" {
		t.Errorf("checks of the stock operator (-want +got):\n%s", diff)
	}
}

func wantMetrics(t *testing.T, stock, guarded *operator) {
	t.Helper()
	for metric, labels := range map[string][]string{
		"freshwatch_informer_verdict":           {`resource="guestbooks"`, `verdict="Fresh"`},
		"freshwatch_transport_watches":          {`resource="guestbooks"`},
		"freshwatch_canary_state":               {`lease_namespace="guestbook-system"`, `state="Fresh"`},
		"freshwatch_reconcile_deadline_seconds": {`controller="guestbook"`},
		"freshwatch_events_written_total":       nil,
	} {
		if len(guarded.values(t, metric, labels...)) == 0 {
			t.Errorf("the guarded operator has no %s with %q", metric, labels)
		}
		if got := stock.values(t, metric); len(got) > 0 {
			t.Errorf("the stock operator has %s: %v", metric, got)
		}
	}
	if got := guarded.sum(t, "freshwatch_canary_missing_rights"); got != 0 {
		t.Errorf("the canary lacks %v rights", got)
	}
}

// wantNoCanary fails unless a process that is told of no namespace has all guards but
// the one that needs one, and says so.
func wantNoCanary(t *testing.T, laptop *operator) {
	t.Helper()
	const namespaceOfPod = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
	if _, err := os.Stat(namespaceOfPod); err == nil {
		t.Skipf("this test runs in a pod: there is %s", namespaceOfPod)
	}
	got := laptop.checks(t, "/healthz")
	slices.Sort(got)
	if diff := cmp.Diff([]string{"freshness", "healthz", "reconcile"}, got); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
	if log := laptop.log(t); !strings.Contains(log, "the watch canary is off") || !strings.Contains(log, "--watch-canary-namespace") {
		t.Errorf("the log does not say why there is no canary:\n%s", log)
	}
}

// wantFlags fails if the documentation names a flag that the program does not have.
func wantFlags(t *testing.T, program string) {
	t.Helper()
	help, _ := exec.CommandContext(t.Context(), program, "-h").CombinedOutput() // which is exit code 2
	named := regexp.MustCompile("`--([a-z0-9-]+)").FindAllStringSubmatch(readFile(t, documentation), -1)
	if len(named) == 0 {
		t.Error("the documentation names no flag")
	}
	for _, m := range named {
		if !strings.Contains(string(help), "\n  -"+m[1]+"\n") && !strings.Contains(string(help), "\n  -"+m[1]+" ") {
			t.Errorf("there is no --%s in\n%s", m[1], help)
		}
	}
}
