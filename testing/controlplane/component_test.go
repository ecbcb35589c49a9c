// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controlplane

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var errNotYet = errors.New("not yet")

// scriptedComponent is a component whose program is a shell script.
func scriptedComponent(t *testing.T, body string, probe func(context.Context) error) *component {
	t.Helper()
	dir := t.TempDir()
	c := &component{
		name: APIServer, path: writeScript(t, dir, "program", body), port: 12345,
		logPath: filepath.Join(dir, "log"), probe: probe, timeout: patience,
	}
	t.Cleanup(func() {
		if err := c.kill(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func never(context.Context) error  { return errNotYet }
func always(context.Context) error { return nil }

func TestComponentThatDiesAtStart(t *testing.T) {
	for _, test := range []struct {
		name, body string
		words      []string
	}{
		{"with a last word", "echo first >&2; echo the reason >&2; exit 3", []string{"kube-apiserver ended: exit status 3", "\n\tfirst\n\tthe reason"}},
		{"without a word", "exit 0", []string{"kube-apiserver ended: exit status 0, without a word"}},
		{"killed", "kill -9 $$", []string{"signal: killed"}},
		{"disk full", "echo no space left on device; exit 1", []string{"exit status 1", "no space left on device"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := scriptedComponent(t, test.body, never).start(context.Background())
			if err == nil {
				t.Fatal("got no error")
			}
			for _, word := range test.words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("error %q does not say %q", err, word)
				}
			}
		})
	}
}

func TestComponentThatIsNeverReady(t *testing.T) {
	c := scriptedComponent(t, "echo still busy; exec /bin/sleep 600", never)
	c.timeout = 200 * time.Millisecond
	err := c.start(context.Background())
	if !errors.Is(err, errNotYet) {
		t.Fatalf("got %v, want %v", err, errNotYet)
	}
	for _, word := range []string{"not ready within 200ms", "still busy"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not say %q", err, word)
		}
	}
	if c.proc != nil {
		t.Error("it still runs")
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.start(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestComponentLogOfAnEarlierRunIsNotBlamed(t *testing.T) {
	c := scriptedComponent(t, `[ -e "$0.again" ] && { echo second; exit 1; }; touch "$0.again"; echo address already in use; exit 1`, never)
	if err := c.start(context.Background()); !errors.Is(err, errPortTaken) {
		t.Fatalf("got %v, want %v", err, errPortTaken)
	}
	err := c.start(context.Background())
	if err == nil || errors.Is(err, errPortTaken) || !strings.Contains(err.Error(), "second") {
		t.Errorf("got %v, want the second run's own words", err)
	}
}

func TestComponentNotRunning(t *testing.T) {
	c := scriptedComponent(t, "exec /bin/sleep 600", always)
	wantError(t, c.pause(context.Background()), "not running")
	if err := c.start(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := killGroup(c.proc.pid); err != nil {
		t.Fatal(err)
	}
	<-c.proc.done
	wantError(t, c.resume(), "signal: killed")
}

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

func TestProbeEtcdKnowsItsMember(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v3/cluster/member/list" {
			_, _ = w.Write([]byte(`{"members":[{"name":"theirs"}]}`))
		}
	}))
	defer server.Close()
	client := probeClient(nil)
	if err := probeEtcd(context.Background(), client, server.URL, "theirs"); err != nil {
		t.Error(err)
	}
	wantError(t, probeEtcd(context.Background(), client, server.URL, "ours"), "another etcd answers at "+server.URL)
}

func TestProbeHTTP(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token" {
			http.Error(w, "who?", http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	client := probeClient(nil)
	if err := probeHTTP(context.Background(), client, server.URL, "token"); err != nil {
		t.Error(err)
	}
	wantError(t, probeHTTP(context.Background(), client, server.URL, ""), "401", "who?")
}

func TestFreePort(t *testing.T) {
	for range 20 {
		port, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		if port < firstPort || port > lastPort {
			t.Errorf("port %d, want %d to %d", port, firstPort, lastPort)
		}
	}
}

func TestLogTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if got := logTail(path, 0); got != "" {
		t.Errorf("of an absent file: %q", got)
	}
	text := "old\n" + strings.Repeat("line\n", tailLines+5) + strings.Repeat("x", tailBytes) + "\nlast\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := logTail(path, 4)
	if !strings.HasSuffix(got, "\n\tlast") || len(got) > tailBytes+2*tailLines {
		t.Errorf("got %d bytes that end with %q", len(got), got[max(0, len(got)-10):])
	}
	if got := logTail(path, int64(len(text))); got != "" {
		t.Errorf("of a run that has not written: %q", got)
	}
	if got, want := lastLines("a\nb\nc\n", 2), "\n\tb\n\tc"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
