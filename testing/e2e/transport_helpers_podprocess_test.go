// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// podJob is the environment variable that makes the test binary a pod, in a
// process of its own that really exits. It holds a podSpec in JSON.
const podJob = "FRESHWATCH_E2E_POD"

// podSpec is what the process has to do until its standard input ends. It tells
// its answers and log lines on standard output.
type podSpec struct {
	Host, TokenFile, Namespace, Path string
	CA                               []byte
	Protocols                        []string
	Exit                             *podExit // nil: stock
}

// podExit holds the ExitOptions that are no functions; the rest is as a program
// would have it, os.Exit above all.
type podExit struct {
	After          time.Duration
	Immediate      bool
	TerminationLog string
}

// podReport is a line from the process.
type podReport struct {
	Answer *answer `json:",omitempty"`
	Log    string  `json:",omitempty"`
}

// playPod is the process's main.
func playPod(text string) error {
	var s podSpec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	var mu sync.Mutex
	enc := json.NewEncoder(os.Stdout)
	return s.untilInputEnds(func(r podReport) {
		mu.Lock()
		defer mu.Unlock()
		_ = enc.Encode(r) // nobody reads any more: the input ends as well
	})
}

func (s podSpec) untilInputEnds(send func(podReport)) error {
	token, err := os.ReadFile(s.TokenFile)
	if err != nil {
		return err
	}
	cfg := &rest.Config{Host: s.Host, BearerToken: string(token), BearerTokenFile: s.TokenFile, QPS: -1}
	cfg.CAData, cfg.NextProtos = s.CA, s.Protocols
	if s.Exit != nil {
		if _, err := transport.Wrap(cfg, transport.Options{
			ExitOnUnauthorized: &transport.ExitOptions{After: s.Exit.After, Immediate: s.Exit.Immediate, TerminationLog: s.Exit.TerminationLog},
			Logger:             funcr.New(func(_, args string) { send(podReport{Log: args}) }, funcr.Options{}),
		}); err != nil {
			return err
		}
	}
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		return err
	}
	watcher, err := dynamic.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		return err
	}
	q := &inquiry{client: client.CoreV1().RESTClient(), paths: []string{s.Path}, tell: func(a answer) { send(podReport{Answer: &a}) }}
	inf := cache.NewSharedIndexInformer(dynamicLW(watcher, configMaps, s.Namespace), &unstructured.Unstructured{}, 0, cache.Indexers{})
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { inf.RunWithContext(ctx) })
	wg.Go(func() { q.run(ctx) })
	_, err = io.Copy(io.Discard, os.Stdin)
	cancel()
	wg.Wait()
	return err
}

// podProcess is the test's end of such a process.
type podProcess struct {
	inquiry // the answers that it has told

	mu   sync.Mutex
	logs []string

	ended chan struct{} // closed when the process has ended
	at    time.Time     // it did so
	err   error         // with this
}

// startPodProcess runs a pod with a token file in a process that ends with the
// test, if not before.
func startPodProcess(t *testing.T, cfg *rest.Config, a *account, s podSpec) *podProcess {
	t.Helper()
	s.Host, s.CA, s.TokenFile, s.Namespace, s.Path = cfg.Host, cfg.CAData, cfg.BearerTokenFile, a.ns, a.path
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), podJob+"="+string(text))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &podProcess{ended: make(chan struct{})}
	var wg sync.WaitGroup
	wg.Go(func() {
		p.read(t, stdout)
		p.err, p.at = cmd.Wait(), time.Now()
		close(p.ended)
	})
	t.Cleanup(func() { _ = stdin.Close(); wg.Wait() })
	return p
}

func (p *podProcess) read(t *testing.T, from io.Reader) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		var r podReport
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Errorf("the process said %q: %v", lines.Text(), err)
			continue
		}
		if r.Answer != nil {
			p.note(*r.Answer)
			continue
		}
		p.mu.Lock()
		p.logs = append(p.logs, r.Log)
		p.mu.Unlock()
	}
}

// logged returns what the process has logged.
func (p *podProcess) logged() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clip(p.logs)
}

// awaitExit waits until the process ends, and returns when it did and its exit
// code.
func (p *podProcess) awaitExit(t *testing.T, limit time.Duration) (at time.Time, code int) {
	t.Helper()
	if !poll.Until(t.Context(), limit, p.hasEnded) {
		t.Fatalf("the process runs on after %v; its answers:\n%v", limit, p.told())
	}
	var exit *exec.ExitError
	if !errors.As(p.err, &exit) {
		t.Fatalf("the process ended with %v, want an exit code", p.err)
	}
	return p.at, exit.ExitCode()
}

func (p *podProcess) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}
