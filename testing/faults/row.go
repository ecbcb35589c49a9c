// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// row is one fault, how it is made, and what has to come of it. Its id is the
// fault's number in the list of faults, with a word where there are several; N
// stands for a negative control, in which nothing is wrong with the informer.
type row struct {
	id    string
	fault string
	fast  bool // part of the subset for continuous integration

	ground ground // the control plane that it needs
	link   link   // the way from the informers to it
	job    job    // the informers, and their guard
	// informers is how many are guarded, each in a namespace of its own; 0 is 1.
	informers int
	// elsewhere: they run in a process of their own.
	elsewhere bool
	// outfit, if set, adds to the job what it takes from the scene.
	outfit func(*scene, *job) error

	// early: the fault is there before the informers are.
	early bool
	// proofs are what the guard has to have seen before the fault. Two are the
	// initial list and a bookmark, so that it knows the stream's phase.
	proofs uint64
	// prepare, if there is anything to, comes shortly before the fault.
	prepare func(context.Context, *scene) error
	// strike makes the fault, and returns what ends it. nil: there is none.
	strike func(context.Context, *scene) (mend, error)
	// lasts is how long the fault does, counted from when the guard has named it if
	// named is set. Zero: for ever. Without a fault it is how long the guard is
	// looked at before the edit.
	lasts time.Duration
	named bool
	// editLater: the edit is made after the fault, since nobody can write before.
	editLater bool
	// names adds words to those that the guard has to say.
	names func(*scene) []string
	// linger is how long the row is looked at once the edit is seen and proven; zero:
	// until the stock informer sees it, too, or has had its time.
	linger time.Duration

	want expectation
}

// mend ends a fault.
type mend func(context.Context) error

// ground says which control plane a row is played on.
type ground struct {
	// own: one of its own, since the fault hits everybody.
	own bool
	// servers is how many kube-apiservers there are; 0 and 1 are the same.
	servers int
	// etcdArgs and serverArgs are further flags of etcd and of kube-apiserver.
	etcdArgs, serverArgs []string
	// only is the one minor version that has what serverArgs ask for; empty: all have.
	only string
	// mute: etcd never reports progress, like datastores that only imitate it.
	mute bool
}

// link says how the informers reach the API server.
type link struct {
	// perRequest: the proxy on the way has a connection to the API server for each
	// request, as many have. Otherwise it has one for all.
	perRequest bool
	// pinned: a load balancer stands in front of two such ways, and leads all
	// connections to the first until it is told otherwise.
	pinned bool
}

// limit is how long the guard is given, and a little more, so that it can be told
// by how much it was late.
func (r *row) limit() time.Duration {
	const slack = 30 * time.Second
	return max(r.want.healed, r.want.detected, time.Minute) + slack
}

// control tells whether the row is a negative control.
func (r *row) control() bool { return r.id[0] == 'N' }

// options returns what the guard is made with. Liveness fails as early as options
// can make it, so that a check that should not fail has every opportunity.
func (j job) options() freshness.Options {
	o := freshness.Options{MaxStaleness: j.MaxStaleness, SyncTimeout: j.SyncTimeout}
	if o.MaxStaleness == 0 {
		o.MaxStaleness = freshness.DefaultMaxStaleness
	}
	o.FailAfter = o.MaxStaleness
	if j.Unguarded {
		o.DisabledCures = []freshness.Rung{freshness.Resume, freshness.Relist, freshness.List, freshness.Reconnect}
	}
	return o
}
