// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// truthSeed is the environment variable with the seed of an earlier run, so that
// the same faults come in the same order.
const truthSeed = "FRESHWATCH_TRUTH_SEED"

// TestStatedBoundHolds has somebody who makes the changes, and so knows the truth,
// compare it with what monitors state, while faults come and go.
func TestStatedBoundHolds(t *testing.T) {
	realServerTest(t)
	storm{lasts: 80 * time.Second, dealers: 3, longest: 10 * time.Second, lull: 2 * time.Second}.test(t, 4*time.Minute)
}

// TestStatedBoundHoldsFor20Minutes takes longer, with longer faults.
func TestStatedBoundHoldsFor20Minutes(t *testing.T) {
	slowTest(t)
	storm{lasts: 20 * time.Minute, dealers: 5, longest: time.Minute, lull: 15 * time.Second}.test(t, 10*time.Minute)
}

// test lets the storm rage, and gives the monitors so long to recover from it.
func (s storm) test(t *testing.T, recovery time.Duration) {
	t.Helper()
	seed := rand.Uint64()
	if given, err := strconv.ParseUint(os.Getenv(truthSeed), 10, 64); err == nil {
		seed = given
	}
	t.Logf("%s=%d", truthSeed, seed)
	stage := newTruthStage(t, seed)
	if !poll.Until(t.Context(), patience, func() bool { return stage.healthySince(time.Time{}) }) {
		t.Fatalf("not proven fresh within %v: %v", patience, stage.operators[0].monitor.Status())
	}
	faults := s.rage(t, stage, seed)
	calm := time.Now()
	if !poll.Until(t.Context(), recovery, func() bool { return stage.healthySince(calm) }) {
		t.Errorf("not fresh again within %v of the last fault:\n%v\n%v", recovery, stage.operators[0].monitor.Status(), stage.operators[1].monitor.Status())
	}
	recovered := time.Since(calm)

	sum := stage.sum()
	figures := sum.figures()
	figures["faults"], figures["kinds_of_faults"] = float64(faults.struck.Load()), float64(len(faults.kinds))
	figures["seconds"], figures["recovered_s"] = seconds(s.lasts), seconds(recovered)
	results.figures(t, figures)
	stage.check(t, sum, faults, s.lasts > 10*time.Minute)
	// A machine that is slow does not come to all of them within the shorter storm.
	if got, all := len(faults.kinds), len(calamities()); got < all && (s.lasts > 10*time.Minute || got < all*2/3) {
		t.Errorf("%d kinds of faults, want all %d, or most in a short storm", got, all)
	}
	if t.Failed() {
		t.Logf("faults:\n%s", strings.Join(faults.lines, "\n"))
	}
}
