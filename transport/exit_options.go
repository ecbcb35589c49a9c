// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

const (
	// DefaultExitAfter outlasts a webhook authenticator that fails for 30 s, and a
	// kubelet that writes a new token a minute late. What client-go needs then to
	// read it (50 s in 0.37) does not count.
	DefaultExitAfter = 90 * time.Second
	// DefaultMinResponses is the fewest answers that can be told from a blip.
	DefaultMinResponses = 3
	// DefaultTerminationLog is where the kubelet reads a container's termination
	// message unless the Pod says otherwise.
	DefaultTerminationLog = "/dev/termination-log"
)

// ExitOptions says when a process ends because its credential is dead. The zero
// value is ready for use.
//
// Only 401s to requests that carry the wrapped config's own credential to its
// own host count: not those to anonymous or impersonated requests, to another
// host, or to a copy of the config with another token. Any answer below 500 but
// 401 and 407 to such a request is a success (a 403 too: it was authenticated),
// and ends the row of 401s. So does a 401 to a newer token of the token file,
// which begins a row of its own. Errors, 407 and 5xx change nothing.
//
// Before the process ends, the API server itself is asked, by a GET of /api with
// the same credential: an aggregated API behind it can answer 401 by itself, while
// nothing else is asked for. Only a 401 to that too leads to the exit. A success
// ends the row; after an error, 407 or 5xx, or 10s without an answer, a later 401
// asks again, 10s after the last question at the earliest.
//
// The process ends at a 401, never on a timer: at most After and twice the
// longest time between two of its requests past the first 401, or at the first
// 401 over a new connection, if that comes later. The question takes what one
// request takes, and is repeated as above.
//
// What cannot be told from a dead credential ends the process as well: in a config
// whose tokens come from an exec plugin, an auth provider or a WrapTransport,
// somebody else's token in a copy of the config.
type ExitOptions struct {
	// After is how long 401s have to go on without a success. No silence between
	// two of them counts for more than half of it, so that a paused process does
	// not leave on its first answer after the pause.
	//
	// Defaults to 90s. At least 10s.
	After time.Duration

	// MinResponses is how many 401s it takes. One of them has to come over a
	// connection that was opened after the first, since they can be the fault of a
	// single API server behind a load balancer; while there are 401s, new ones are
	// opened again and again, with ever longer pauses. Nobody knows of connections
	// where rest.Config.Transport is set, and none is asked for. Fewer than 3 make no
	// difference, because of what silence counts for.
	//
	// Defaults to 3. At least 1.
	MinResponses int

	// Immediate makes the first 401 end the process, whatever After and
	// MinResponses say, and without asking the API server to confirm it: also the
	// first from an aggregated API, or from one API server of several.
	Immediate bool

	// TerminationLog is the file that gets the reason, which `kubectl describe pod`
	// then shows. It is cut at 4096 bytes, as the kubelet would.
	//
	// Defaults to /dev/termination-log, written only if it is there, as it is in
	// every container. Any other file is created.
	TerminationLog string

	// BeforeExit, if set, is called last before the exit, which waits 5s for it.
	BeforeExit func(Unauthorized)

	// FlightRecorder, if set, is asked for what it holds, and the last 64 KiB of
	// that are logged. The exit waits 5s for it.
	FlightRecorder io.WriterTo

	// Exit ends the process, with code 1. If it returns, nothing more happens: no
	// 401 leads to a second exit.
	//
	// Defaults to os.Exit.
	Exit func(code int)
}

// withDefaults returns o completed and checked.
func (o ExitOptions) withDefaults() (ExitOptions, error) {
	if o.After == 0 {
		o.After = DefaultExitAfter
	}
	if o.MinResponses == 0 {
		o.MinResponses = DefaultMinResponses
	}
	if o.TerminationLog == "" {
		o.TerminationLog = DefaultTerminationLog
	}
	if o.Exit == nil {
		o.Exit = os.Exit //nolint:forbidigo // the one exit of this library, which only whoever sets ExitOnUnauthorized gets, and can replace
	}
	if o.After < 10*time.Second {
		return o, fmt.Errorf("transport: ExitOptions.After is %v, but must be at least 10s (401s can be the fault of one API server that restarts; Immediate exits on the first)", o.After)
	}
	if dir := filepath.Dir(o.TerminationLog); o.TerminationLog != DefaultTerminationLog {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return o, fmt.Errorf("transport: ExitOptions.TerminationLog is %q, but %q must be a directory that exists", o.TerminationLog, dir)
		}
	}
	if o.MinResponses < 1 {
		return o, fmt.Errorf("transport: ExitOptions.MinResponses is %d, but must be at least 1", o.MinResponses)
	}
	return o, nil
}

// longestSilence is what the time between two 401s counts for at most. Two such
// silences make up After.
func (o ExitOptions) longestSilence() time.Duration { return (o.After + 1) / 2 }
