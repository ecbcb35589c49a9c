// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"math/rand/v2"
	"time"
)

// dice is where chance comes from: one seed, one course of events.
type dice struct{ *rand.Rand }

func newDice(seed, stream uint64) dice { return dice{rand.New(rand.NewPCG(seed, stream))} }

func (d dice) chance(p float64) bool { return d.Float64() < p }

func (d dice) between(a, b time.Duration) time.Duration {
	if b <= a {
		return a
	}
	return a + time.Duration(d.Int64N(int64(b-a)))
}

// about draws from an exponential distribution: what happens at any moment alike.
func (d dice) about(mean time.Duration) time.Duration {
	return time.Millisecond + time.Duration(d.ExpFloat64()*float64(mean))
}

// span draws a length: short ones are as likely per octave as long ones.
func (d dice) span(shortest, longest time.Duration) time.Duration {
	l := shortest
	for l*2 < longest && d.chance(0.7) {
		l *= 2
	}
	return d.between(l, min(2*l, longest))
}
