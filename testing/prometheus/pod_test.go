// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/testing/internal/subprocess"
)

const (
	// What a kubelet is told by the README: periodSeconds, and the default failureThreshold.
	probePeriod  = 10 * time.Second
	failuresMost = 3
	// The first pause of its back-off, and the longest.
	firstBackOff, longestBackOff = 10 * time.Second, 5 * time.Minute
)

type process = subprocess.Process[report]

// pod is one process after the other at one address, which a kubelet starts, probes, and
// ends when its liveness fails.
type pod struct {
	spec    spec
	probing http.Client
	gone    context.Context
	remove  context.CancelFunc
	done    sync.WaitGroup

	mu    sync.Mutex
	lives []*process // the newest last
}

// startPod runs a pod until the test ends, or it is deleted.
func startPod(t *testing.T, s spec) *pod {
	t.Helper()
	p := &pod{spec: s, probing: http.Client{Timeout: probePeriod, Transport: &http.Transport{DisableKeepAlives: true}}}
	p.gone, p.remove = context.WithCancel(context.WithoutCancel(t.Context()))
	p.done.Go(func() {
		if err := p.keep(t); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		p.delete()
		if t.Failed() {
			t.Log(p.tell())
		}
	})
	return p
}

// delete ends it.
func (p *pod) delete() {
	p.remove()
	p.done.Wait()
}

func (p *pod) deleted() bool { return p.gone.Err() != nil }

// keep is the kubelet.
func (p *pod) keep(t *testing.T) error {
	backOff := firstBackOff
	for p.gone.Err() == nil {
		life, err := subprocess.Start[report](t, p.spec.Name, operatorVariable, p.spec)
		if err != nil {
			return err
		}
		p.mu.Lock()
		p.lives = append(p.lives, life)
		p.mu.Unlock()
		p.probe(life)
		life.Terminate()
		poll.Until(p.gone, backOff, func() bool { return false })
		backOff = min(2*backOff, longestBackOff)
	}
	return nil
}

// probe probes a process until it has to end, or has.
func (p *pod) probe(life *process) {
	ticker := time.NewTicker(probePeriod)
	defer ticker.Stop()
	for failures := 0; failures < failuresMost; {
		select {
		case <-p.gone.Done():
			return
		case <-life.Ended:
			return
		case <-ticker.C:
		}
		failures++
		if p.probeOnce() == nil {
			failures = 0
		}
	}
}

func (p *pod) probeOnce() error {
	req, err := http.NewRequestWithContext(p.gone, http.MethodGet, "http://"+p.spec.Address+"/healthz", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := p.probing.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	return err
}

// restarts returns how often it was.
func (p *pod) restarts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.lives) - 1
}

// tell returns what its processes have logged.
func (p *pod) tell() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for n, life := range p.lives {
		fmt.Fprintf(&b, "%s, process %d:\n", p.spec.Name, n+1)
		for _, r := range life.Reports() {
			fmt.Fprintf(&b, "  %s %s\n", r.At.Format("15:04:05.0"), r.Log)
		}
	}
	return b.String()
}
