// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"iter"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// checkEnds compares why watches of the wrapped config have ended with what may
// and must be among the reasons. It returns the numbers, by reason.
func (tw *twins) checkEnds(t *testing.T, must map[string]int, may ...string) map[string]float64 {
	t.Helper()
	got := ends(t, tw.transport)["watch"]
	allowed := map[string]bool{}
	for _, reason := range may {
		allowed[reason] = true
	}
	for reason, least := range must {
		if allowed[reason] = true; got[reason] < float64(least) {
			t.Errorf("%v watches ended for the reason %q, want at least %d: %v", got[reason], reason, least, got)
		}
	}
	for reason := range got {
		if !allowed[reason] {
			t.Errorf("%v watches ended for the reason %q, want none: %v", got[reason], reason, got)
		}
	}
	return got
}

// ends returns why lists and watches have ended: numbers by verb and reason.
func ends(t testing.TB, c prometheus.Collector) map[string]map[string]float64 {
	t.Helper()
	out, err := endsOf(c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func endsOf(c prometheus.Collector) (map[string]map[string]float64, error) {
	out := map[string]map[string]float64{}
	all, err := gather(c, "freshwatch_transport_streams_ended_total")
	for labels, n := range all {
		verb, reason := labels["verb"], labels["reason"]
		if out[verb] == nil {
			out[verb] = map[string]float64{}
		}
		if n > 0 {
			out[verb][reason] = n
		}
	}
	return out, err
}

// figure returns the value of a metric without labels.
func figure(t testing.TB, c prometheus.Collector, name string) float64 {
	t.Helper()
	for _, n := range series(t, c, name) {
		return n
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// series returns the values of a counter or gauge with their labels.
func series(t testing.TB, c prometheus.Collector, name string) iter.Seq2[map[string]string, float64] {
	t.Helper()
	all, err := gather(c, name)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func gather(c prometheus.Collector, name string) (iter.Seq2[map[string]string, float64], error) {
	registry := prometheus.NewPedanticRegistry()
	err := registry.Register(c)
	families, gatherErr := registry.Gather()
	return func(yield func(map[string]string, float64) bool) {
		for _, f := range families {
			for _, m := range f.GetMetric() {
				labels := map[string]string{}
				for _, l := range m.GetLabel() {
					labels[l.GetName()] = l.GetValue()
				}
				if f.GetName() == name && !yield(labels, m.GetCounter().GetValue()+m.GetGauge().GetValue()) {
					return
				}
			}
		}
	}, errors.Join(err, gatherErr)
}
