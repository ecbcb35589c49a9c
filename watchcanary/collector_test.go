// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMetricsGolden(t *testing.T) {
	clock := clocktesting.NewFakeClock(epoch)
	source := Client{Config: &rest.Config{}, HTTP: http.DefaultClient}
	standby, err := New(source, Options{Namespace: "operators", Name: "standby", Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	leader, err := New(source, Options{Namespace: "operators", Clock: clock, Logger: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	r, err := leader.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	leader.take(r, written{beat: beat{at: epoch}, acked: epoch, rv: "10"})
	clock.Step(20 * time.Millisecond)
	leader.saw(r, "10")
	leader.take(r, written{beat: beat{at: epoch}, acked: epoch, rv: "20"})
	leader.take(r, written{beat: beat{at: epoch}, err: apierrors.NewForbidden(schema.GroupResource{}, "", nil)})
	leader.note(r, []string{"update"})
	clock.Step(5 * time.Second)

	registry := prometheus.NewPedanticRegistry()
	for _, c := range []*Canary{leader, standby} { // two of them, one registry
		if err := registry.Register(c); err != nil {
			t.Fatal(err)
		}
	}
	page := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	got := page.Body.String()
	golden := filepath.Join("testdata", "metrics.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("exposition differs from %s; if that is meant, run the test with -update (-want +got):\n%s", golden, diff)
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v, %v", problems, err)
	}
}

func TestResultOf(t *testing.T) {
	for want, err := range map[result]error{
		acknowledged: nil,
		forbidden:    apierrors.NewForbidden(schema.GroupResource{}, "", nil),
		contended:    fmt.Errorf("%w: x", errContended),
		conflicts:    fmt.Errorf("%w: %w", errConflicts, apierrors.NewConflict(schema.GroupResource{}, "", nil)),
		timedOut:     context.DeadlineExceeded,
		otherwise:    os.ErrClosed,
	} {
		if got := resultOf(err); got != want {
			t.Errorf("%v is %s, want %s", err, resultNames[got], resultNames[want])
		}
	}
}
