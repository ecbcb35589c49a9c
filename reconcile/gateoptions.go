// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/freshwatch/freshwatch/freshness"
)

const (
	// DefaultRequeueAfter is short beside the minutes that a stall takes to be cured,
	// and long enough for thousands of requests to be requeued at no cost.
	DefaultRequeueAfter = 15 * time.Second

	// startWait is how long a reconcile waits for the proof at start, before its
	// request is requeued: twice what a quiet informer's proof takes.
	startWait = 10 * time.Second

	// lookEvery is how often the monitor is asked at most: as often as it looks at
	// its informers.
	lookEvery = 500 * time.Millisecond

	// unmonitoredGrace is how long a kind may be without an informer before that is
	// logged: the first read makes one.
	unmonitoredGrace = time.Minute
)

// GateOptions configures a Gate. The zero value is ready for use.
type GateOptions struct {
	// Name is the metrics' label "controller", such as the controller's name. Gates
	// that are registered with one registry need different ones.
	//
	// Defaults to none.
	Name string

	// Verdicts close the gate.
	//
	// Defaults to Stalled, Diverged and ControlPlaneStalled. Must not hold Fresh.
	// Suspect closes it some seconds earlier, at the price of closing it for kinds
	// that turn out healthy; Unreachable, Blind and Syncing close it while nothing is
	// known.
	Verdicts []freshness.Verdict

	// RequeueAfter is after how long a held request is tried again, give or take a
	// fifth, so that many do not come back together.
	//
	// Defaults to 15s. At least 1s, since every held request is tried that often.
	RequeueAfter time.Duration

	// AtStart holds reconciles until every kind is proven for the moment of the first
	// one, which is when the controller starts, or becomes leader. Reconciles wait up to
	// 10s for that proof, and are requeued where it takes longer. It costs what
	// freshness.Monitor.EnsureFresh does, once for each kind: some 5s, where it is
	// quiet. The monitor has to be started before.
	//
	// A kind that cannot be proven (Blind, Unreachable) holds reconciles for as long;
	// see MaxHold.
	AtStart bool

	// MaxHold is how long the gate stays closed before reconciles are let through all
	// the same, with a log line, until it has been open again; a proof at start is no
	// longer waited for then.
	//
	// Defaults to 0: for ever. That is right for what must never act on old data, and
	// needs somebody who looks at the metrics. Must not be negative.
	MaxHold time.Duration

	// CloseUnmonitored closes the gate while no informer of a kind is monitored.
	//
	// By default it stays open, which is logged once after a minute: the client of a
	// manager makes informers when it first reads, and a gate that waited for them
	// would wait for ever. Set it where all informers are made beforehand, by the
	// controller's For, Owns and Watches or by GetInformer, so that a gate that is
	// wired wrongly is noticed at once.
	CloseUnmonitored bool

	// Logger gets one line when the gate closes and one when it opens.
	//
	// Defaults to controller-runtime's.
	Logger logr.Logger

	// Clock is for tests. The wait at start does not follow it.
	//
	// Defaults to the real clock.
	Clock clock.PassiveClock
}

// withDefaults returns o completed and checked.
func (o GateOptions) withDefaults() (GateOptions, error) {
	if o.RequeueAfter == 0 {
		o.RequeueAfter = DefaultRequeueAfter
	}
	if o.RequeueAfter < time.Second {
		return o, fmt.Errorf("reconcile: GateOptions.RequeueAfter is %v, but must be at least 1s (every held request is tried that often)", o.RequeueAfter)
	}
	if o.MaxHold < 0 {
		return o, fmt.Errorf("reconcile: GateOptions.MaxHold is %v, but must not be negative", o.MaxHold)
	}
	if slices.Contains(o.Verdicts, freshness.Fresh) {
		return o, fmt.Errorf("reconcile: GateOptions.Verdicts holds %v, which would hold every reconcile", freshness.Fresh)
	}
	if len(o.Verdicts) == 0 {
		o.Verdicts = []freshness.Verdict{freshness.Stalled, freshness.Diverged, freshness.ControlPlaneStalled}
	}
	o.Verdicts = slices.Clone(o.Verdicts)
	if o.Logger.GetSink() == nil {
		o.Logger = log.Log.WithName("gate")
	}
	if o.Name != "" {
		o.Logger = o.Logger.WithValues("controller", o.Name)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o, nil
}

// checkKinds returns an error where a gate cannot tell kinds apart.
func checkKinds(kinds []freshness.Informer) error {
	if len(kinds) == 0 {
		return errors.New("reconcile: WithGate wants the kinds that the reconciler reads, got none")
	}
	for i, k := range kinds {
		if k.Resource == "" {
			return fmt.Errorf("reconcile: WithGate wants kinds with a Resource, such as configmaps, got one of group %q without", k.Group)
		}
		if slices.Contains(kinds[:i], k) {
			return fmt.Errorf("reconcile: WithGate wants each kind once, got %v twice", k)
		}
	}
	return nil
}
