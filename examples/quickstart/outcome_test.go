// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/freshness"
)

func verdict(seconds float64, inf freshness.Informer, v freshness.Verdict) freshness.Event {
	return freshness.Event{Time: at(seconds), Informer: inf, Type: freshness.VerdictChanged, Verdict: v}
}

func proven(seconds, asOf float64, inf freshness.Informer) freshness.Event {
	return freshness.Event{Time: at(seconds), Informer: inf, Type: freshness.Proven, FreshAsOf: at(asOf)}
}

func tried(seconds float64, inf freshness.Informer, typ freshness.EventType, r freshness.Rung) freshness.Event {
	return freshness.Event{Time: at(seconds), Informer: inf, Type: typ, Cure: r}
}

func TestOutcome(t *testing.T) {
	before := []freshness.Event{
		verdict(0.5, configMapsInformer, freshness.Fresh), verdict(0.5, widgetsInformer, freshness.Fresh), proven(0.5, 0, widgetsInformer),
	}
	for _, test := range []struct {
		name   string
		events []freshness.Event
		want   outcome
	}{
		{
			name: "nothing since",
			want: outcome{spared: true, fresh: true, quiet: quiet{longestGap: 89500 * time.Millisecond, largestBound: 90 * time.Second}},
		},
		{
			name:   "the quiet informer is proven twice",
			events: []freshness.Event{proven(61, 59, widgetsInformer), proven(61, 59, configMapsInformer), proven(85, 84, widgetsInformer)},
			want:   outcome{spared: true, fresh: true, quiet: quiet{2, 60500 * time.Millisecond, 61 * time.Second}},
		},
		{
			name: "stalled and resumed",
			events: []freshness.Event{
				proven(61, 59, widgetsInformer),
				verdict(62, configMapsInformer, freshness.Stalled),
				tried(62, configMapsInformer, freshness.CureStarted, freshness.Resume),
				tried(66, configMapsInformer, freshness.CureProven, freshness.Resume),
				verdict(66, configMapsInformer, freshness.Fresh),
			},
			want: outcome{
				detected: 52 * time.Second, spared: true, fresh: true,
				verdicts: []freshness.Verdict{freshness.Stalled, freshness.Fresh},
				cures:    []cure{{freshness.Resume, 52 * time.Second, true}},
				quiet:    quiet{1, 60500 * time.Millisecond, 61 * time.Second},
			},
		},
		{
			name: "a cure that does not help, without a verdict",
			events: []freshness.Event{
				proven(61, 59, widgetsInformer),
				tried(62, configMapsInformer, freshness.CureStarted, freshness.Resume),
				tried(69, configMapsInformer, freshness.CureFailed, freshness.Resume),
			},
			want: outcome{
				detected: 52 * time.Second, spared: true, fresh: true,
				cures: []cure{{freshness.Resume, 52 * time.Second, false}},
				quiet: quiet{1, 60500 * time.Millisecond, 61 * time.Second},
			},
		},
		{
			name:   "the wrong informer is suspected",
			events: []freshness.Event{proven(61, 59, widgetsInformer), verdict(62, widgetsInformer, freshness.Suspect)},
			want:   outcome{quiet: quiet{1, 60500 * time.Millisecond, 61 * time.Second}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := record{
				faultAt: at(10), events: append(before, test.events...),
				// Stock saw only the edit before the fault.
				seen: map[sighting]time.Time{{stock, settings}: at(9), {stock, gadget}: at(11), {guarded, settings}: at(62)},
			}
			test.want.waited = 80 * time.Second
			test.want.stock.seen = map[object]time.Duration{gadget: time.Second}
			test.want.guarded.seen = map[object]time.Duration{settings: 52 * time.Second}
			got := r.outcome(at(90))
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(outcome{}, side{}, cost{}, cure{}, quiet{})); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOutcomeOfALiftedFault(t *testing.T) {
	r := record{faultAt: at(10), liftedAt: at(40)}
	if got := r.outcome(at(50)); got.lifted != 30*time.Second || got.waited != 40*time.Second {
		t.Errorf("lifted after %v of %v, want 30s of 40s", got.lifted, got.waited)
	}
}
