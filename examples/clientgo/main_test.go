// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	goleak.VerifyTestMain(m)
}

// TestRealServer runs the program, silences two of its streams, and watches it from
// outside. Client-go's own informers beside it, silenced in the same way, show that
// it would have been blind.
func TestRealServer(t *testing.T) {
	c := newCluster(t)
	p := launch(t, c)
	stock := stockInformers(t, c)
	waitFor(t, 2*time.Minute, "three informers fresh", func() bool { return allFresh(t, p) })
	for _, name := range []string{"configmaps/v1 in default", "deployments.apps/v1 in default", "secrets/v1 in default"} {
		if _, status := p.get(t, "/status"); !strings.Contains(status, name+": Fresh") {
			t.Errorf("%s is not among\n%s", name, status)
		}
	}
	if _, text := p.get(t, "/metrics"); strings.Count(text, `verdict="Fresh",version="v1"} 1`) != 3 {
		t.Errorf("want three informers Fresh in\n%s", text)
	}
	c.edit(t, "red")
	waitFor(t, time.Minute, "an edit, without a fault", func() bool { return changed(p, "Deployment") > 1 && stock.color() == "red" })
	before := changed(p, "Deployment")

	fault := c.proxy.Inject(faultproxy.Match{Verb: "watch", Resource: "configmaps"}, faultproxy.Silence{OnlyOpen: true})
	defer fault.Lift()
	other := c.proxy.Inject(faultproxy.Match{Verb: "watch", Resource: "deployments"}, faultproxy.Silence{OnlyOpen: true})
	defer other.Lift()
	begin := time.Now()
	c.edit(t, "blue")
	edited := time.Now()
	if fault.Hits() < 2 || other.Hits() < 2 {
		t.Fatalf("silenced %d and %d streams, want the program's and client-go's", fault.Hits(), other.Hits())
	}

	// The gated read is proven or refused, and never older than it may be.
	waitFor(t, 2*time.Minute, "the edit, by a gated read", func() bool {
		asked := time.Now()
		status, body := p.get(t, "/configmaps/settings")
		if status == http.StatusOK && strings.Contains(body, "red") && asked.Sub(edited) > maxAge {
			t.Errorf("asked %v after the edit and told %s", asked.Sub(edited), body)
		}
		return strings.Contains(body, "blue")
	})
	t.Logf("read the edit of the ConfigMap after %v", time.Since(begin).Round(100*time.Millisecond))
	// Nobody reads Deployments: the next proof finds it out.
	waitFor(t, 2*time.Minute, "the edit, by the monitor", func() bool { return changed(p, "Deployment") > before })
	t.Logf("told of the edit of the Deployment after %v", time.Since(begin).Round(100*time.Millisecond))
	waitFor(t, time.Minute, "three informers fresh again", func() bool { return allFresh(t, p) })
	if status, body := p.get(t, "/livez"); status != http.StatusOK {
		t.Errorf("/livez: %d %s", status, body)
	}
	if got := stock.color(); got != "red" {
		t.Errorf("client-go's own informer saw %q through a silent stream: the test shows nothing", got)
	}
	if n := relists(c, begin); n != 0 {
		t.Errorf("%d objects were listed again, want none", n)
	}

	if status, _ := p.get(t, "/configmaps/absent"); status != http.StatusNotFound {
		t.Errorf("/configmaps/absent: %d, want %d", status, http.StatusNotFound)
	}
	if err := p.stop(); err != nil {
		t.Errorf("stopped with %v", err)
	}
}

// allFresh tells whether the three informers are.
func allFresh(t *testing.T, p *process) bool {
	t.Helper()
	_, status := p.get(t, "/status")
	return strings.Count(status, ": Fresh: ") == 3 && strings.Count(status, "\n") == 3
}

// waitFor fails the test unless cond holds within limit.
func waitFor(t *testing.T, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for !cond() {
		select {
		case <-ticker.C:
		case <-timeout.C:
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

func TestFlags(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"help", []string{"-h"}, flag.ErrHelp.Error()},
		{"unknown", []string{"-unknown"}, "not defined"},
		{"no such kubeconfig", []string{"-kubeconfig", "absent"}, "absent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := start(t.Context(), tt.args); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}
