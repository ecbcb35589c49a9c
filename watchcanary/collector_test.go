// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/freshwatch/freshwatch/internal/exposition"
)

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
	leader.note(r, []string{"update"}, nil)
	for range 5 {
		clock.Step(tick)
		leader.Status()
	}

	exposition.Golden(t, "metrics.golden", leader, standby) // two of them, one registry
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
