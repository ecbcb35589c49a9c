// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	// DefaultInformers is far more than one process has: above it, those of which nothing
	// was heard for the longest are forgotten.
	DefaultInformers = 2000
	// DefaultEntries are two to three hours of a quiet informer, whose watch is renewed
	// every three minutes.
	DefaultEntries = 48
	// DefaultIncidents outlast a night in which something fails every half an hour.
	DefaultIncidents = 32

	// BytesPerInformer bounds what is kept of an informer with DefaultEntries, an incident
	// that goes on included: 48 entries of at most 160 bytes of text, with what holds them.
	BytesPerInformer = 16 << 10

	// connectionEntries are those of connections, of all informers together.
	connectionEntries = 128
	// textLimit bounds the text of an entry, in bytes.
	textLimit = 160
	// dumpAgain is how long a dump is enough.
	dumpAgain = 10 * time.Minute
)

// Options configures a Recorder. The zero value is ready for use.
type Options struct {
	// Informers is of how many informers something is kept. Memory stays below
	// BytesPerInformer times as many, and 1 MiB.
	//
	// Defaults to 2000. At least 1, at most 100000.
	Informers int

	// Entries is how many entries are kept of each informer, of those that say more than
	// that all is well.
	//
	// Defaults to 48. At least 8, at most 1000.
	Entries int

	// Incidents is how many incidents that are over are kept, of all informers together.
	//
	// Defaults to 32. At least 1, at most 1000.
	Incidents int

	// OnIncident, if set, is told of every incident when it begins, when it turns out to be
	// worse than thought, and when it is over. It must return soon: what is recorded waits.
	OnIncident func(Incident)

	// Logger gets what was recorded when a check begins to fail, in one line of at most
	// 64 KiB.
	//
	// Defaults to klog's.
	Logger logr.Logger

	// Clock is for tests.
	//
	// Defaults to the real clock.
	Clock clock.PassiveClock
}

// withDefaults returns o completed and checked.
func (o Options) withDefaults() (Options, error) {
	var errs []error
	for _, c := range []struct {
		name             string
		value            *int
		def, least, most int
	}{
		{"Informers", &o.Informers, DefaultInformers, 1, 100000},
		{"Entries", &o.Entries, DefaultEntries, 8, 1000},
		{"Incidents", &o.Incidents, DefaultIncidents, 1, 1000},
	} {
		if *c.value == 0 {
			*c.value = c.def
		}
		if *c.value < c.least || *c.value > c.most {
			errs = append(errs, fmt.Errorf("flightrecorder: Options.%s is %d, but must be at least %d and at most %d (it bounds memory)", c.name, *c.value, c.least, c.most))
		}
	}
	if o.Logger.GetSink() == nil {
		o.Logger = klog.Background().WithName("flightrecorder")
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o, errors.Join(errs...)
}
