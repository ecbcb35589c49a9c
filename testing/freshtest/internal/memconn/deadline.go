// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package memconn

import (
	"os"
	"time"
)

// errDeadline is what package net returns too: it satisfies net.Error and says Timeout.
var errDeadline = os.ErrDeadlineExceeded

// deadline is an instant after which reads or writes of a half fail. It is guarded by that half's lock.
type deadline struct {
	timer  *time.Timer
	passed bool
}

// arm sets the deadline to t, or to none when t is the zero time. The caller holds h's lock.
func (d *deadline) arm(h *half, t time.Time) {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.passed = false
	if t.IsZero() {
		return
	}
	wait := time.Until(t)
	if wait <= 0 {
		d.passed = true
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(wait, func() {
		h.set(func(*half) {
			// A timer that fired while it was being replaced says nothing about the deadline that replaced it.
			if d.timer == timer {
				d.passed = true
			}
		})
	})
	d.timer = timer
}
