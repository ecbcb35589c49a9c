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
			return
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
