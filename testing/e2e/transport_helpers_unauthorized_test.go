// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

const (
	// shortAfter is an ExitOptions.After that costs little waiting. The default is
	// 90 s, and tests that are about it say so.
	shortAfter = 20 * time.Second
	// askEvery is how often a pod asks for something, and so about the longest time
	// between two of its requests.
	askEvery = time.Second
)

// pod is what runs in one: an informer, and a client that asks for something
// every second, with one http.Client. Its exit is noted, and does not happen.
type pod struct {
	inquiry
	cache.SharedIndexInformer
	cfg            *rest.Config
	guard          *transport.Transport // nil: stock
	terminationLog string

	mu     sync.Mutex
	exited []time.Time
	causes []transport.Unauthorized
}

// startPod runs a pod until the end of the test. It asks for the paths in turn.
func startPod(t *testing.T, cfg *rest.Config, ns string, exit *transport.ExitOptions, paths ...string) *pod {
	t.Helper()
	p := newPod(t, cfg, exit)
	httpClient := httpClientFor(t, p.cfg)
	client, err := dynamic.NewForConfigAndClient(p.cfg, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	p.SharedIndexInformer = cache.NewSharedIndexInformer(dynamicLW(client, configMaps, ns), &unstructured.Unstructured{}, 0, cache.Indexers{})
	untilEnd(t, p.RunWithContext)
	typed, err := kubernetes.NewForConfigAndClient(p.cfg, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	p.inquiry.client, p.inquiry.paths = typed.CoreV1().RESTClient(), paths
	untilEnd(t, p.inquiry.run)
	return p
}

// newPod wraps a copy of the config; with exit nil it stays as it is.
func newPod(t *testing.T, cfg *rest.Config, exit *transport.ExitOptions) *pod {
	t.Helper()
	p := &pod{cfg: rest.CopyConfig(cfg), terminationLog: filepath.Join(t.TempDir(), "termination-log")}
	if exit == nil {
		return p
	}
	opts := *exit
	opts.TerminationLog = p.terminationLog
	opts.BeforeExit = func(u transport.Unauthorized) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.causes = append(p.causes, u)
	}
	opts.Exit = func(int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.exited = append(p.exited, time.Now())
	}
	p.guard = wrap(t, p.cfg, transport.Options{ExitOnUnauthorized: &opts})
	return p
}

// exits returns when the pod would have exited.
func (p *pod) exits() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clip(p.exited)
}

// awaitExit waits for it.
func (p *pod) awaitExit(t *testing.T, limit time.Duration) time.Time {
	t.Helper()
	if !poll.Until(t.Context(), limit, func() bool { return len(p.exits()) > 0 }) {
		t.Fatalf("no exit within %v; the answers:\n%v", limit, p.told())
	}
	return p.exits()[0]
}

// checkStays fails if the pod would have exited.
func (p *pod) checkStays(t *testing.T) {
	t.Helper()
	if len(p.exits()) > 0 {
		t.Errorf("exited, because %s; the answers:\n%v", p.message(t), p.told())
	}
	if got := figure(t, p.guard, "freshwatch_transport_unauthorized_exits_total"); got != 0 {
		t.Errorf("counts %v exits", got)
	}
}

// message returns the termination message.
func (p *pod) message(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(p.terminationLog)
	if err != nil {
		t.Errorf("no termination message: %v", err)
	}
	return string(text)
}

// counted returns how many 401s were the credential's own, and how many not.
func (p *pod) counted(t *testing.T) (own, others float64) {
	t.Helper()
	for labels, n := range series(t, p.guard, "freshwatch_transport_unauthorized_total") {
		if labels["verdict"] == "counted" {
			own = n
		} else {
			others = n
		}
	}
	return own, others
}

// checkMessage fails unless the message says all this.
func checkMessage(t *testing.T, message string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(message, w) {
			t.Errorf("the termination message does not say %q: %s", w, message)
		}
	}
}

// checkExit fails unless an exit came within the bound that ExitOptions states: by
// the answers that the process had, and by nothing that it sends besides.
func checkExit(t *testing.T, told answers, exit time.Time, after time.Duration) (took time.Duration) {
	t.Helper()
	row := told.before(exit).row(http.StatusUnauthorized)
	if len(row) == 0 {
		t.Fatalf("exited without a 401:\n%v", told)
	}
	took = exit.Sub(row[0].At)
	if bound := after + 2*row.longestGap() + slowAsk; took < after-slowAsk || took > bound {
		t.Errorf("the exit came %v after the first 401, want between %v and %v:\n%v", took, after, bound, told)
	}
	return took
}

// slowAsk is by how much a busy machine may be late to note an answer, or to ask
// the API server to confirm.
const slowAsk = 3 * time.Second
