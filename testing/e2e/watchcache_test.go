// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// TestConsistentListsMoveTheWatchCache holds the API server to what the proofs of
// quiet kinds rest on: where a consistent LIST has found the datastore, the kind's
// watch cache is afterwards, though nothing of the kind was written.
func TestConsistentListsMoveTheWatchCache(t *testing.T) {
	realServerTest(t)
	p := sharedPlane.Get(t)
	still := custom("Still")
	p.serve(t, still)
	ns := p.namespace(t, "still")
	list := func(o metav1.ListOptions) string {
		t.Helper()
		l, err := p.dynamic.Resource(still.gvr()).Namespace(ns).List(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return l.GetResourceVersion()
	}

	const samples = 40
	var took []time.Duration
	behind := 0
	for i := range samples {
		p.put(t, configMaps.object(ns, "elsewhere", fmt.Sprint(i)), configMaps)
		begin := time.Now()
		datastore := list(metav1.ListOptions{Limit: 1, FieldSelector: "metadata.name=none"})
		took = append(took, time.Since(begin))
		order, err := resourceversion.CompareResourceVersion(list(metav1.ListOptions{ResourceVersion: "0"}), datastore)
		if err != nil {
			t.Fatal(err)
		}
		if order < 0 {
			behind++
		}
	}
	slices.Sort(took)
	results.figures(t, map[string]float64{
		"lists": samples, "left_behind": float64(behind),
		"median_s": took[samples/2].Seconds(), "slowest_s": took[samples-1].Seconds(),
	})
	if want := expectedBehind(samples); behind != want {
		t.Errorf("the watch cache was behind after %d of %d consistent LISTs, want %d", behind, samples, want)
	}
}

// expectedBehind tells how often the watch cache stays where it was.
func expectedBehind(lists int) int {
	if withoutProgress() {
		return lists
	}
	return 0
}
