// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

const (
	// What a kubelet is told: periodSeconds and failureThreshold. The timeout is that of
	// a busy machine.
	probePeriod  = time.Second
	failuresMost = 3
	probeTimeout = 10 * time.Second
)

// pod is one process after the other, which a kubelet starts, probes, and ends when its
// liveness fails. It starts the next one at once.
type pod struct {
	name    string
	spec    spec
	probing http.Client

	mu       sync.Mutex
	lives    []*process // the newest last
	restarts []restart
	unready  []string // readiness probes that failed, once one had passed
}

// restart says why a process was followed by another, and when that was found.
type restart struct {
	at  time.Time
	why string
}

const (
	livenessFailed = "liveness"
	processEnded   = "ended by itself"
)

// podOptions are what a test may change.
type podOptions struct {
	withoutCanary bool
	// withoutProbes leaves a process alone that does not answer.
	withoutProbes bool
	renewDeadline time.Duration // of its leader election; defaults to controller-runtime's
	backOff       time.Duration // before a process that has ended is followed by another
}

// startPod runs a pod until the test ends.
func (d *deployment) startPod(t *testing.T, name string, o podOptions) *pod {
	t.Helper()
	if o.renewDeadline == 0 {
		o.renewDeadline = 10 * time.Second
	}
	p := &pod{
		name:    name,
		spec:    spec{Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"), Namespace: d.ns, RenewDeadline: o.renewDeadline, WithoutCanary: o.withoutCanary},
		probing: http.Client{Timeout: probeTimeout, Transport: &http.Transport{DisableKeepAlives: true}},
	}
	if err := controlplane.WriteKubeconfig(p.spec.Kubeconfig, d.config()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := p.keep(ctx, t, o); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	if !poll.Until(t.Context(), patience, func() bool { return p.now() != nil && p.now().address() != "" }) {
		t.Fatalf("%s does not start", name)
	}
	return p
}

// keep is the kubelet.
func (p *pod) keep(ctx context.Context, t *testing.T, o podOptions) error {
	for n := 1; ; n++ {
		s := p.spec
		s.Name = fmt.Sprintf("%s-%d", p.name, n)
		life, err := startProcess(t, s)
		if err != nil {
			return err
		}
		p.mu.Lock()
		p.lives = append(p.lives, life)
		p.mu.Unlock()
		why := p.probe(ctx, life, o)
		if why == "" {
			life.Kill()
			return nil
		}
		p.mu.Lock()
		p.restarts = append(p.restarts, restart{time.Now(), why})
		p.mu.Unlock()
		life.Terminate()
		if why == processEnded {
			poll.Until(ctx, o.backOff, func() bool { return false })
		}
	}
}

// probe probes a process until it has to be followed by another, and returns why; ""
// is the end of the test.
func (p *pod) probe(ctx context.Context, life *process, o podOptions) (why string) {
	ticker := time.NewTicker(probePeriod)
	defer ticker.Stop()
	failures, ready := 0, false
	for {
		select {
		case <-ctx.Done():
			return ""
		case <-life.Ended:
			return processEnded
		case <-ticker.C:
		}
		if o.withoutProbes || life.address() == "" {
			continue
		}
		failures++
		if p.get(ctx, life, "/healthz") == nil {
			failures = 0
		}
		if failures == failuresMost {
			return livenessFailed
		}
		switch err := p.get(ctx, life, "/readyz"); {
		case err == nil:
			ready = true
		case ready && !life.HasEnded() && !life.WasTold() && ctx.Err() == nil:
			p.mu.Lock()
			p.unready = append(p.unready, err.Error())
			p.mu.Unlock()
		}
	}
}

func (p *pod) get(ctx context.Context, life *process, path string) error {
	_, err := p.read(ctx, life, path)
	return err
}

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

// now returns the process that runs now.
func (p *pod) now() *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lives) == 0 {
		return nil
	}
	return p.lives[len(p.lives)-1]
}

// all returns the processes so far.
func (p *pod) all() []*process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.lives)
}

// restarted returns the restarts so far, for one reason.
func (p *pod) restarted(why string) []restart {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.restarts), func(r restart) bool { return r.why != why })
}
