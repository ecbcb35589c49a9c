// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch/freshevents"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/transport"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// collected is what one section of docs/metrics.md is made from.
type collected struct {
	dir   string   // of the package
	types []string // which have the method Describe
	intro string   // what no HELP text can say

	// described says, complete and with their labels, which series there are.
	described []prometheus.Collector

	// exposed has each of them at least once: their types, and the values of the labels
	// that are enumerations. Most is held by a golden test of the package.
	exposed string

	// enumerations are labels whose values are names of an exported type.
	enumerations []enumeration
}

// collectors are all of the library. TestMetricsHaveNoForgottenCollector finds one that
// is missing here.
func collectors(t *testing.T) []collected {
	t.Helper()
	monitor := must(freshness.New(freshness.Options{}))(t)
	guard, guardSays := usedTransport(t)
	mgr := manager{}
	canary := must(watchcanary.New(mgr, watchcanary.Options{Namespace: "operators"}))(t)
	events := must(freshevents.New(mgr, freshevents.Options{}))(t)

	inner := ctrlreconcile.Func(func(context.Context, ctrlreconcile.Request) (ctrlreconcile.Result, error) {
		return ctrlreconcile.Result{}, nil
	})
	alone := must(reconcile.WithDeadline(inner, reconcile.DeadlineOptions{Name: "alone"}))(t)
	deadlines := must(reconcile.NewDeadlines(mgr, reconcile.DeadlinesOptions{Restarts: reconcile.RestartBudgetOptions{Namespace: "operators"}}))(t)
	must(reconcile.WithDeadlines(inner, deadlines, "pods"))(t)
	gate := must(reconcile.WithGate(inner, monitor, []freshness.Informer{{Version: "v1", Resource: "pods"}}, reconcile.GateOptions{Name: "gated"}))(t)
	generations := must(reconcile.NewGenerations(mgr, []reconcile.GenerationKind{{Object: &corev1.Pod{}}}, reconcile.GenerationOptions{}))(t)

	return []collected{
		{
			dir: "freshness", types: []string{"Monitor"},
			intro: "One set for each informer, which ends with the informer. Informers with the same labels, such as a typed and a\n" +
				"metadata-only one of a kind, are one series: the worst verdict, the oldest proof, the sum of the counts. A renewed\n" +
				"watch that brings what the one before it owed counts as a resume that was proven.",
			described: []prometheus.Collector{monitor}, exposed: readFile(t, "freshness/testdata/metrics.golden"),
			enumerations: []enumeration{{"verdict", "Verdict", namesOf[freshness.Verdict]()}, {"cure", "Rung", namesOf[freshness.Rung]()}},
		},
		{
			dir: "transport", types: []string{"Transport"},
			intro: "One set for each `rest.Config` that was wrapped. Of `reason`, `server`, `client` and `status` are ordinary ends;\n" +
				"`client` includes watches that a monitor has resumed, which `freshwatch_informer_cures_total` counts.",
			described: []prometheus.Collector{guard}, exposed: guardSays,
			enumerations: []enumeration{{"reason", "EndReason", namesOf[transport.EndReason]()}},
		},
		{
			dir: "watchcanary", types: []string{"Canary"},
			intro: "One set for each process, standbys included. Only the leader writes: a standby's counts stand still, and its `state`\n" +
				"is `Standby`.",
			described: []prometheus.Collector{canary}, exposed: readFile(t, "watchcanary/testdata/metrics.golden"),
			enumerations: []enumeration{{"state", "State", namesOf[watchcanary.State]()}},
		},
		{
			dir: "freshevents", types: []string{"Events"},
			intro:     "One set for each process. What is `forbidden`, `rejected` or `dropped` is not written; the log says once why.",
			described: []prometheus.Collector{events}, exposed: readFile(t, "freshevents/testdata/metrics.golden"),
		},
		{
			dir: "reconcile", types: []string{"Deadline", "Deadlines"},
			intro: "One set for each controller. Where `Deadlines` ask for restarts of all controllers together, `controller` is empty on\n" +
				"the two series of restarts.",
			described: []prometheus.Collector{alone, deadlines}, exposed: readFile(t, "reconcile/testdata/deadline.golden"),
		},
		{
			dir: "reconcile", types: []string{"Gate"},
			intro:     "One set for each gate, whose name is `controller`.",
			described: []prometheus.Collector{gate}, exposed: readFile(t, "reconcile/testdata/gate.golden"),
		},
		{
			dir: "reconcile", types: []string{"Generations"},
			intro: "One set for each kind that is read, on the leader only: a standby has none of these series. As each new leader begins\n" +
				"anew, alert on the maximum over pods.",
			described: []prometheus.Collector{generations}, exposed: readFile(t, "reconcile/testdata/generation.golden"),
		},
	}
}

// usedTransport returns a Transport that has made a request and has a watch open, and
// what it exposes then: it has no golden file.
func usedTransport(t *testing.T) (*transport.Transport, string) {
	t.Helper()
	cfg := freshtest.Start(t, freshtest.Options{}).Config()
	guard := must(transport.Wrap(cfg, transport.Options{}))(t)
	secrets := must(kubernetes.NewForConfig(cfg))(t).CoreV1().Secrets("default")
	must(secrets.List(t.Context(), metav1.ListOptions{}))(t)
	watch := must(secrets.Watch(t.Context(), metav1.ListOptions{}))(t)
	defer watch.Stop()
	return guard, exposition(t, guard)
}

// exposition is what a scrape of the collectors gets.
func exposition(t *testing.T, of ...prometheus.Collector) string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	for _, c := range of {
		if err := registry.Register(c); err != nil {
			t.Fatal(err)
		}
	}
	page := httptest.NewRecorder()
	scrape := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(page, scrape)
	if page.Code != http.StatusOK {
		t.Fatalf("a scrape is answered with %d: %s", page.Code, page.Body)
	}
	return page.Body.String()
}

// manager has what the constructors ask of a manager.Manager, and is sent nothing.
type manager struct{}

func (manager) GetConfig() *rest.Config                 { return &rest.Config{Host: "http://127.0.0.1:1"} }
func (manager) GetHTTPClient() *http.Client             { return &http.Client{} }
func (manager) GetControllerOptions() config.Controller { return config.Controller{} }
func (manager) GetAPIReader() client.Reader             { return nil }
func (manager) GetScheme() *runtime.Scheme              { return scheme.Scheme }
func (manager) GetRESTMapper() meta.RESTMapper          { return meta.MultiRESTMapper{} }

// must returns the value of a call that cannot fail here.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
