// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package realplane

import (
	"context"
	"flag"
	"sync"
	"testing"
)

// stopper is a Plane, or what a package makes of one.
type stopper interface {
	comparable
	Stop() error
}

// Own starts a control plane for one test, which may do to it what it likes.
func Own[P stopper](t *testing.T, start func(context.Context) (P, error)) P {
	t.Helper()
	p, err := start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// Shared is for the tests that do not disturb each other. The first that asks for it
// starts it.
type Shared[P stopper] struct {
	Start func(context.Context) (P, error)

	mu    sync.Mutex
	plane P
	err   error
}

// Get returns it.
func (s *Shared[P]) Get(t *testing.T) P {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var none P
	if s.plane == none && s.err == nil {
		s.plane, s.err = s.Start(context.Background())
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.plane
}

// Stop stops it, if anybody has asked for it.
func (s *Shared[P]) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var none P
	if s.plane == none {
		return nil
	}
	return s.plane.Stop()
}

// WaitTogether lets all tests of a package run at once, unless -parallel was given:
// they wait for time to pass, not for a processor. It parses the flags.
func WaitTogether() error {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", "64")
}
