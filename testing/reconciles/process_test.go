// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"testing"

	"github.com/freshwatch/freshwatch/testing/internal/subprocess"
)

// process is the test's end of a replica.
type process struct{ *subprocess.Process[report] }

func startProcess(t *testing.T, s spec) (*process, error) {
	p, err := subprocess.Start[report](t, s.Name, replicaVariable, s)
	return &process{p}, err
}

func (p *process) address() string {
	for _, r := range p.Reports() {
		if r.Address != "" {
			return r.Address
		}
	}
	return ""
}
