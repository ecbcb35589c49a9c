// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/internal/subprocess"
)

const (
	// What a kubelet is told: periodSeconds and failureThreshold. The timeout is that of a
	// busy machine.
	probePeriod  = 500 * time.Millisecond
	failuresMost = 2
	probeTimeout = 10 * time.Second
)

// pod is one process after the other, which a kubelet starts, probes, and ends when its
// liveness fails. It starts the next one at once.
type pod struct {
	spec    spec
	wedges  func(n int) bool // whether the n-th process does, from 1
	probing http.Client

	mu       sync.Mutex
	lives    []*process // the newest last
	restarts []restart
}

// restart says when a process was followed by another, and why.
type restart struct {
	at  time.Time
	why string
}

// startPod runs a pod until the test ends.
func startPod(t *testing.T, cfg *rest.Config, ns string, wedges func(n int) bool) *pod {
	t.Helper()
	p := &pod{
		spec:    spec{Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"), Namespace: ns},
		wedges:  wedges,
		probing: http.Client{Timeout: probeTimeout, Transport: &http.Transport{DisableKeepAlives: true}},
	}
	if err := controlplane.WriteKubeconfig(p.spec.Kubeconfig, cfg); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := p.keep(ctx, t); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		if t.Failed() {
			t.Log(p.tell())
		}
	})
	return p
}

// keep is the kubelet.
func (p *pod) keep(ctx context.Context, t *testing.T) error {
	for n := 1; ; n++ {
		s := p.spec
		s.Name, s.Wedges = fmt.Sprintf("%s-%d", s.Namespace, n), p.wedges(n)
		life, err := startProcess(t, s)
		if err != nil {
			return err
		}
		p.mu.Lock()
		p.lives = append(p.lives, life)
		p.mu.Unlock()
		why := p.probe(ctx, life)
		if why == "" {
			life.Kill()
			return nil
		}
		p.mu.Lock()
		p.restarts = append(p.restarts, restart{time.Now(), why})
		p.mu.Unlock()
		life.Terminate()
	}
}

// probe probes a process until it has to be followed by another, and returns why; ""
// is the end of the test.
func (p *pod) probe(ctx context.Context, life *process) (why string) {
	ticker := time.NewTicker(probePeriod)
	defer ticker.Stop()
	for failures := 0; failures < failuresMost; {
		select {
		case <-ctx.Done():
			return ""
		case <-life.Ended:
			return "ended by itself"
		case <-ticker.C:
		}
		if life.address() == "" {
			continue
		}
		failures++
		if _, err := p.read(ctx, life, "/healthz"); err == nil {
			failures = 0
		}
	}
	return livenessFailed
}

const livenessFailed = "liveness"

func (p *pod) read(ctx context.Context, life *process, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+life.address()+path, http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := p.probing.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	return string(body), err
}

// now returns the process that runs now, and which one that is, from 1.
func (p *pod) now() (*process, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lives) == 0 {
		return &process{&subprocess.Process[report]{}}, 0
	}
	return p.lives[len(p.lives)-1], len(p.lives)
}

// restarted returns the restarts so far.
func (p *pod) restarted() []restart {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.restarts)
}

// logged tells whether the process that runs now has logged something.
func (p *pod) logged(part string) bool {
	life, _ := p.now()
	return slices.ContainsFunc(life.Reports(), func(r report) bool { return strings.Contains(r.Log, part) })
}

// sees tells whether the process that runs now has reconciled this.
func (p *pod) sees(object, content string) bool {
	life, _ := p.now()
	return slices.ContainsFunc(life.Reports(), func(r report) bool { return r.Object == object && r.Sees == content })
}

// metric returns the value of a metric with one series for each controller.
func (p *pod) metric(t *testing.T, name, controller string) float64 {
	t.Helper()
	life, _ := p.now()
	text, err := p.read(t.Context(), life, "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), fmt.Sprintf("%s{controller=%q} ", name, controller)); found {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("no metric %s of the controller %q in\n%s", name, controller, text)
	return 0
}

// tell returns what a reader wants to know when something is wrong.
func (p *pod) tell() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for _, life := range p.lives {
		fmt.Fprintf(&b, "%s:\n", life.Name)
		for _, r := range life.Reports() {
			fmt.Fprintf(&b, "  %s %s%s %s %s\n", r.At.Format("15:04:05.0"), r.Address, r.Object, r.Sees, r.Log)
		}
	}
	fmt.Fprintf(&b, "restarts: %v\n", p.restarts)
	return b.String()
}
