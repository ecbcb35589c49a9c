// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"syscall"
	"time"
)

// processRows are about the process that the informers are in.
func processRows() []*row {
	return []*row{
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
