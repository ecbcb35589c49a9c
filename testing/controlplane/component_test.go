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
		{"without a word", "exit 0", []string{"kube-apiserver ended: exit status 0; its log ends with: (nothing)"}},
		{"killed", "kill -9 $$", []string{"signal: killed"}},
		{"disk full", "echo write: no space left on device; exit 1", []string{"kube-apiserver ended: the disk is full: its files are in /"}},
		{"panic", "echo before; echo panic: the reason; seq 100; exit 2", []string{"exit status 2; its log ends with:\n\tpanic: the reason\n\t1\n"}},
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

func TestComponentThatAnnouncesItself(t *testing.T) {
	c := scriptedComponent(t, `[ -e "$0.again" ] && /bin/sleep 0.2; touch "$0.again"; echo ready now; exec /bin/sleep 600`, nil)
	c.announces = "ready now"
	for range 2 { // What an earlier run has said does not count.
		if err := c.start(context.Background()); err != nil {
			t.Fatal(err)
		}
		if text := runLog(c.logPath, c.logOffset); !strings.Contains(text, c.announces) {
			t.Errorf("started, and this run has said %q", text)
		}
		if err := c.kill(); err != nil {
			t.Fatal(err)
		}
	}

	c.announces, c.timeout = "something else", 200*time.Millisecond
	err := c.start(context.Background())
	if err == nil || !strings.Contains(err.Error(), `it has not said "something else"`) {
		t.Errorf("got %v", err)
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

func TestRunLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if got := runLog(path, 0); got != "" {
		t.Errorf("of an absent file: %q", got)
	}
	text := "earlier run\n" + "this run\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := runLog(path, int64(len("earlier run\n"))); got != "this run\n" {
		t.Errorf("got %q", got)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("x", runLogBytes)+"end"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := runLog(path, 0); len(got) != runLogBytes || !strings.HasSuffix(got, "xend") {
		t.Errorf("got %d bytes, want the last %d", len(got), runLogBytes)
	}
}

func TestExcerpt(t *testing.T) {
	lines := strings.Repeat("line\n", excerptLines+5)
	for _, test := range []struct{ name, text, begin, end string }{
		{"nothing", "\n", " (nothing)", ""},
		{"short", "a\nb\n", "\n\ta\n\tb", ""},
		{"last lines", "first\n" + lines + "last\n", "\n\tline", "\n\tlast"},
		{"one long line", strings.Repeat("x", excerptBytes) + "end", "\n\tx", "xend"},
		{"panic", "a\npanic: why\n" + lines, "\n\tpanic: why\n\tline", ""},
		{"panic at once", "panic: why", "\n\tpanic: why", ""},
		{"not a panic", "the word panic: is here", "\n\tthe word", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := excerpt(test.text)
			if !strings.HasPrefix(got, test.begin) || !strings.HasSuffix(got, test.end) {
				t.Errorf("got %q", got)
			}
			if n := strings.Count(got, "\n"); n > excerptLines || len(got) > excerptBytes+2*excerptLines {
				t.Errorf("%d lines, %d bytes are too much", n, len(got))
			}
		})
	}
}
