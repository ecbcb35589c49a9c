// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
)

var errStopped = errors.New("stopped")

// Pause stops a component where it is (SIGSTOP), connections kept open, like a frozen node. It returns when no instruction of it is
// executed any more. A paused component stays so until Resume, Restart, Rewind or Stop; to pause it again changes nothing.
func (c *ControlPlane) Pause(ctx context.Context, name Component) error {
	return c.with("pause", name, func(comp *component) error { return comp.pause(ctx) })
}

// Resume lets a paused component run on (SIGCONT). One that is not paused is left alone.
func (c *ControlPlane) Resume(name Component) error {
	return c.with("resume", name, (*component).resume)
}

// Restart kills a component, as a crash would, and starts it again on the same port with the same data. It returns when the component is
// ready. After an error the component does not run; Restart may be tried again.
func (c *ControlPlane) Restart(ctx context.Context, name Component) error {
	return c.with("restart", name, func(comp *component) error {
		if err := comp.kill(); err != nil {
			return err
		}
		return comp.start(ctx)
	})
}

// with runs do on one component while nothing else happens to the control plane.
func (c *ControlPlane) with(verb string, name Component, do func(*component) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	comp, err := c.component(name)
	if err == nil {
		err = do(comp)
	}
	if err != nil {
		return fmt.Errorf("controlplane: %s %s: %w", verb, name, err)
	}
	return nil
}

// component returns one that was started. The caller holds c.mu.
func (c *ControlPlane) component(name Component) (*component, error) {
	if c.stopped {
		return nil, errStopped
	}
	for _, comp := range c.components {
		if comp.name == name {
			return comp, nil
		}
	}
	return nil, errors.New("not started, see Options")
}
