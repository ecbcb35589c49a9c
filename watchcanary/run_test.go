// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"net/http"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
)

// A process that was stopped has not waited: the event may be in its kernel's buffers.
func TestPauseDoesNotCount(t *testing.T) {
	clock := clocktesting.NewFakeClock(epoch)
	c, err := New(Client{Config: &rest.Config{}, HTTP: http.DefaultClient}, Options{Namespace: "ns", Clock: clock, Logger: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, due := c.look(r); !due {
		t.Error("no write at the start")
	}
	c.take(r, written{beat: beat{at: epoch}, acked: epoch, rv: "10"})
	for range 3 {
		clock.Step(tick)
		c.look(r)
	}
	if got := c.Status().Unseen; got != 3*tick {
		t.Errorf("unseen for %v", got)
	}
	clock.Step(time.Hour)
	c.look(r)
	if got := c.Status().Unseen; got != 4*tick {
		t.Errorf("unseen for %v after a pause", got)
	}
}
