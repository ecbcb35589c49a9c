// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controlplane

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// launcher is a control plane in which kube-apiserver is a script.
func launcher(t *testing.T, body string) (*ControlPlane, *testLog) {
	t.Helper()
	dir := t.TempDir()
	writeScript(t, dir, string(APIServer), body)
	log, text := newTestLog()
	c := &ControlPlane{
		opts: Options{StartTimeout: patience}, dir: &stateDir{path: dir, unlock: func() {}},
		log: log, binaries: &binaries{dir: dir},
	}
	return c, text
}

func TestLaunchTriesAnotherPort(t *testing.T) {
	c, log := launcher(t, `[ -e "$0.taken" ] && exec /bin/sleep 600; touch "$0.taken"; echo bind: address already in use; exit 1`)
	var ports []int
	port, err := c.launch(context.Background(), APIServer, 0, func(port int) ([]string, func(context.Context) error) {
		ports = append(ports, port)
		return nil, func(context.Context) error {
			if len(ports) < 2 {
				return errNotYet
			}
			return nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(ports) != 2 || ports[1] != port {
		t.Errorf("tried %v, got %d", ports, port)
	}
	if !strings.Contains(log.String(), "port already in use: trying another") {
		t.Errorf("logged %q", log.String())
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
}

func TestLaunchGivesUp(t *testing.T) {
	const taken = "echo bind: address already in use; exit 1"
	for _, test := range []struct {
		name         string
		fixed, tries int
	}{{"a fixed port is tried once", 23456, 1}, {"free ports", 0, portTries}} {
		t.Run(test.name, func(t *testing.T) {
			c, _ := launcher(t, taken)
			tries := 0
			_, err := c.launch(context.Background(), APIServer, test.fixed, func(int) ([]string, func(context.Context) error) {
				tries++
				return nil, never
			})
			wantError(t, err, "kube-apiserver: port ", "already in use")
			if tries != test.tries {
				t.Errorf("tried %d times, want %d", tries, test.tries)
			}
		})
	}
}

func TestStopReportsWhatDied(t *testing.T) {
	c, _ := launcher(t, "exec /bin/sleep 600")
	_, err := c.launch(context.Background(), APIServer, 0, func(int) ([]string, func(context.Context) error) { return nil, always })
	if err != nil {
		t.Fatal(err)
	}
	if err := killGroup(c.components[0].proc.pid); err != nil {
		t.Fatal(err)
	}
	<-c.components[0].proc.done
	first := c.Stop()
	wantError(t, first, "controlplane: kube-apiserver ended: signal: killed")
	if again := c.Stop(); !errors.Is(again, first) {
		t.Errorf("stopped again: %v, want %v", again, first)
	}
	wantError(t, c.Restart(context.Background(), APIServer), "restart kube-apiserver", "stopped")
}

func TestComponentThatWasNotStarted(t *testing.T) {
	c, _ := launcher(t, "")
	wantError(t, c.Pause(context.Background(), Scheduler), "pause kube-scheduler: not started")
	wantError(t, c.Resume("etc"), "resume etc: not started")
	wantError(t, c.Rewind(context.Background(), nil), "not one of this control plane")
	wantError(t, c.Rewind(context.Background(), &Checkpoint{owner: &ControlPlane{}}), "not one of this control plane")
}
