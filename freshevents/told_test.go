// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
)

// What was told to have begun is told to be over, whatever it has become meanwhile, in
// words of our own; and what was not told to have begun is not.
func TestWhatWasToldIsToldToBeOver(t *testing.T) {
	scenario(t, Options{}, func(f *fixture) {
		began := time.Now()
		blind := flightrecorder.Incident{
			ID: 7, Informer: configMaps, Began: began, Verdict: freshness.Blind, Layer: flightrecorder.LayerPermission,
			Diagnosis: secret, Evidence: flightrecorder.Evidence{Cause: "forbidden"},
		}
		f.ObserveIncident(blind)
		away := blind
		away.Verdict, away.Layer = freshness.Unreachable, flightrecorder.LayerPath
		f.ObserveIncident(away)
		other := away
		other.ID = 8
		f.ObserveIncident(other)
		<-time.After(3 * time.Minute)
		away.Ended, other.Ended = time.Now(), time.Now()
		f.ObserveIncident(away)
		f.ObserveIncident(away)
		f.ObserveIncident(other)
		<-time.After(gather + 2*tick)
		f.wantWritten(
			"Warning InformerBlind: configmaps/v1 cannot be watched (forbidden), so that nobody can tell whether its cache is fresh: the log says what is missing.",
			"Normal InformerHealed: configmaps/v1 is fresh again, after 3m.",
		)
		if len(f.Events.told) > 0 {
			t.Errorf("it remembers %v", f.Events.told)
		}
	})
}
