// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/clock"
)

const (
	// DefaultMaxStaleness leaves room for one bookmark period (at most 61.25 s in
	// apiserver 0.37), the read before it, and a renewed watch where no bookmark
	// can be waited for. Down to it, a quiet informer costs one read a minute.
	DefaultMaxStaleness = 75 * time.Second
	// MinMaxStaleness leaves a renewed watch its time, and 5 s between two of them.
	MinMaxStaleness = 15 * time.Second
	// DefaultFailAfter lets every rung be tried twice before a restart is asked
	// for.
	DefaultFailAfter = 5 * time.Minute
	// DefaultSyncTimeout is the shortest timeout that the reflector asks the API
	// server for (5 to 10 min in client-go 0.37).
	DefaultSyncTimeout = 5 * time.Minute
	// DefaultReadTimeout is three times what a kube-apiserver takes to answer a
	// consistent LIST while its watch cache is frozen (3 s in 1.37).
	DefaultReadTimeout = 10 * time.Second
	// DefaultConcurrentReads bounds the load that a monitor can put on an API
	// server that answers slowly.
	DefaultConcurrentReads = 10

	// tick is how often informers are looked at: two locks and two strings each.
	tick = 500 * time.Millisecond
)

// Options configures a Monitor. The zero value is ready for use.
type Options struct {
	// MaxStaleness is how old the newest proof may be for the verdict Fresh. From 75s
	// up it changes no request: proofs come as often as bookmarks do. Below, a quiet
	// informer cannot wait for those, and its watch is renewed: a list that returns
	// nothing and two watches each time, 10 requests a minute at 30s, 28 at 15s.
	//
	// Defaults to 75s. At least 15s.
	MaxStaleness time.Duration

	// FailAfter is how long an informer has to be Stalled, all cures failing,
	// before Check fails.
	//
	// Defaults to 5m. At least MaxStaleness, so that the cures had their time.
	FailAfter time.Duration

	// SyncTimeout bounds a stream of initial events (WatchList). One that lasts
	// longer is ended, and the informer lists instead, which has no such bound.
	//
	// Defaults to 5m. At least 1s. Raise it where the first list of a kind takes
	// longer than that over your network.
	SyncTimeout time.Duration

	// ReadTimeout bounds each read of the API server. A read that takes longer
	// counts as failed, and says nothing about the informer.
	//
	// Defaults to 10s. At least 4s, since a server with a frozen watch cache
	// answers after 3s.
	ReadTimeout time.Duration

	// ConcurrentReads is how many reads of one monitor are under way at most.
	//
	// Defaults to 10. At least 1.
	ConcurrentReads int

	// Audit is how often contents are compared, which finds what proofs cannot: events
	// lost on a stream that moves.
	//
	// Defaults to once an hour.
	Audit AuditOptions

	// Metadata, if set, makes audits cheap: objects come without their contents. It is
	// metadata.NewForConfig of the informers' own config. Without it audits list whole
	// objects through the informer's client.
	Metadata metadata.Interface

	// Expected are informers that have to run. One that does not, for a minute, is
	// reported as Blind: a kind that was forgotten, or whose informer was removed, is
	// otherwise nobody's. Group and Resource are as in URLs, an empty Group is the core
	// group; an empty Version stands for all, an empty Namespace for an informer of all
	// namespaces, or each of one. A standby replica lacks those that only a leader makes,
	// such as controllers' own: they are Blind there.
	Expected []Informer

	// DisabledCures are not tried. With all disabled (Resume, Relist, List, Reconnect) the
	// monitor only watches.
	// Without List, SyncTimeout has no effect.
	DisabledCures []Rung

	// Connections, if set, is asked for new connections when no other cure has
	// helped, and before another list where it seems to be the path, at most once in
	// 10m for all informers. A *transport.Transport is one.
	Connections interface{ Recycle() int }

	// Servers, if set, is asked where each API server's watch cache stands when the one
	// that answers is frozen: the reason then names the servers, and with Connections
	// another one is tried where one is up to date. *apiservers.Servers is one.
	Servers Servers

	// Observer, if set, is told of everything that happens to every informer, in
	// order, from one goroutine. It must return soon: the monitor waits for it.
	Observer func(Event)

	// Logger gets one line for each change of verdict and each cure.
	//
	// Defaults to the logger in Start's context, and to klog's where it has none,
	// as with a controller-runtime manager.
	Logger logr.Logger

	// Clock is for tests.
	//
	// Defaults to the real clock.
	Clock clock.WithTicker
}

// withDefaults returns o completed and checked.
func (o Options) withDefaults() (Options, error) {
	def(&o.MaxStaleness, DefaultMaxStaleness)
	def(&o.FailAfter, max(DefaultFailAfter, o.MaxStaleness))
	def(&o.SyncTimeout, DefaultSyncTimeout)
	def(&o.ReadTimeout, DefaultReadTimeout)
	def(&o.ConcurrentReads, DefaultConcurrentReads)
	def(&o.Audit.Every, DefaultAuditEvery)
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	var errs []error
	for _, c := range []struct {
		name     string
		got, min time.Duration
		why      string
	}{
		{"MaxStaleness", o.MaxStaleness, MinMaxStaleness, "a watch has to be renewed and to prove itself in that time"},
		{"FailAfter", o.FailAfter, o.MaxStaleness, "MaxStaleness, so that cures come first"},
		{"SyncTimeout", o.SyncTimeout, time.Second, "an initial list takes time"},
		{"Audit.Every", o.Audit.Every, time.Minute, "each costs a list of the whole kind"},
		{"ReadTimeout", o.ReadTimeout, 4 * time.Second, "a server with a frozen watch cache answers after 3s"},
	} {
		if c.got < c.min {
			errs = append(errs, fmt.Errorf("freshness: Options.%s is %v, but must be at least %v (%s)", c.name, c.got, c.min, c.why))
		}
	}
	if o.ConcurrentReads < 1 {
		errs = append(errs, fmt.Errorf("freshness: Options.ConcurrentReads is %d, but must be at least 1", o.ConcurrentReads))
	}
	for i, e := range o.Expected {
		if e.Resource == "" {
			errs = append(errs, fmt.Errorf("freshness: Options.Expected[%d].Resource is empty, but must name one, such as configmaps", i))
		}
	}
	for _, r := range o.DisabledCures {
		if r < Resume || r > Reconnect {
			errs = append(errs, fmt.Errorf("freshness: Options.DisabledCures holds %v, but the cures are %v, %v, %v and %v", r, Resume, Relist, List, Reconnect))
		}
	}
	return o, errors.Join(errs...)
}

func (o Options) limits() limits {
	l := limits{maxStaleness: o.MaxStaleness, syncTimeout: o.SyncTimeout, auditEvery: o.Audit.Every, hasServers: o.Servers != nil, tick: tick}
	if o.Audit.Disabled {
		l.auditEvery = 0
	}
	for _, r := range []Rung{Resume, Relist, List, Reconnect} {
		if !slices.Contains(o.DisabledCures, r) && (r != Reconnect || o.Connections != nil) {
			l.cures = append(l.cures, r)
		}
	}
	return l
}

func def[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}
