// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// processRows are about the process that the informers are in.
func processRows() []*row {
	return []*row{
		{
			id:    "27",
			fault: "a handler never returns: the cache moves on, and the program is told nothing",
			strike: func(_ context.Context, s *scene) (mend, error) {
				t, err := s.twins()
				if err != nil {
					return nil, err
				}
				t.handler.block()
				return func(context.Context) error { t.handler.release(); return nil }, nil
			},
			lasts: beyondLiveness, named: true,
			want: expectation{
				detected: promise, words: []string{"handlers"}, never: nobody(), may: renewal(),
				healed: recovery, inTime: true, unhealthy: true,
			},
		},
		{
			id:     "30",
			fault:  "an informer that is expected was stopped; it is made anew later",
			outfit: expected,
			strike: func(_ context.Context, s *scene) (mend, error) {
				t, err := s.twins()
				if err != nil {
					return nil, err
				}
				t.stopInformers()
				return t.makeInformers, nil
			},
			lasts: beyondLiveness, named: true,
			want: expectation{
				detected: promise, says: []freshness.Verdict{freshness.Blind, freshness.Fresh}, words: []string{"none runs"},
				never: append(notProcess(), freshness.ControlPlaneStalled), may: renewal(),
				healed: recovery, relists: true, blind: true,
			},
		},
		{
			id:        "32",
			fault:     "the process is paused for two minutes: SIGSTOP (control: the client is paused)",
			elsewhere: true,
			strike: func(_ context.Context, s *scene) (mend, error) {
				h, ok := s.cast.(*helper)
				if !ok {
					return nil, errors.New("the informers are not in a process of their own")
				}
				return func(context.Context) error { return h.signal(syscall.SIGCONT) }, h.signal(syscall.SIGSTOP)
			},
			lasts: 2 * time.Minute,
			want:  expectation{healed: recovery, never: nobody(), may: renewal(), blind: true},
		},
	}
}

// twins are the informers in this process.
func (s *scene) twins() (*twins, error) {
	t, ok := s.cast.(*twins)
	if !ok {
		return nil, errors.New("the informers are in another process")
	}
	return t, nil
}

// expected tells the guard which informer has to run.
func expected(_ *scene, j *job) error {
	gvr := j.Kind.read()
	j.change = func(o *freshness.Options) {
		o.Expected = []freshness.Informer{{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource, Namespace: j.Namespaces[0]}}
	}
	return nil
}
