// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/watchcanary"
)

var leases = coordinationv1.SchemeGroupVersion.WithResource("leases")

const namespace = "operators"

// fixture is a server in this process, and canaries of programs that lead one after the
// other. It lives in a synctest bubble: its time is the bubble's.
type fixture struct {
	*testing.T
	srv *freshtest.Server

	mu  sync.Mutex
	log []string
}

// scenario plays in a bubble.
func scenario(t *testing.T, play func(f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { play(newFixture(t)) })
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return &fixture{T: t, srv: freshtest.Start(t, freshtest.Options{})}
}

// process is a program with a canary.
type process struct {
	*watchcanary.Canary
	f    *fixture
	stop func() // as a restart does, or the end of its leadership
}

// start starts a program, with a client of its own.
func (f *fixture) start(o watchcanary.Options) *process {
	f.Helper()
	return f.startWith(o, f.source(nil))
}

func (f *fixture) startWith(o watchcanary.Options, from watchcanary.Source) *process {
	f.Helper()
	o.Namespace = namespace
	o.Logger = funcr.New(func(_, args string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.log = append(f.log, args)
	}, funcr.Options{})
	c, err := watchcanary.New(from, o)
	if err != nil {
		f.Fatal(err)
	}
	p := &process{Canary: c, f: f}
	p.lead()
	return p
}

// monitor starts a program's own monitor.
func (f *fixture) monitor(o freshness.Options) *freshness.Monitor {
	f.Helper()
	m, err := freshness.New(o)
	if err != nil {
		f.Fatal(err)
	}
	ctx, cancel := context.WithCancel(f.Context())
	done := make(chan error, 1)
	go func() { done <- m.Start(ctx) }()
	f.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			f.Error(err)
		}
	})
	return m
}

// lead has the process lead until stop.
func (p *process) lead() {
	ctx, cancel := context.WithCancel(p.f.Context())
	done := make(chan error, 1)
	go func() { done <- p.Start(ctx) }()
	p.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			p.f.Error(err)
		}
	})
	p.f.Cleanup(p.stop)
}

// await sleeps until cond holds, and returns how long that took.
func (f *fixture) await(limit time.Duration, what string, cond func() bool) time.Duration {
	f.Helper()
	begin := time.Now()
	for !cond() {
		if time.Since(begin) > limit {
			f.Fatalf("not within %v: %s; log:\n%s", limit, what, f.told())
		}
		time.Sleep(time.Second)
	}
	return time.Since(begin)
}

func (p *process) is(s watchcanary.State) func() bool {
	return func() bool { return p.Status().State == s }
}

func (p *process) fails() bool {
	err := p.Check(nil)
	if err != nil && !errors.Is(err, watchcanary.ErrStalled) {
		p.f.Errorf("Check returned %v, which is not ErrStalled", err)
	}
	return err != nil
}

// holds fails if cond does not hold for all of d.
func (f *fixture) holds(d time.Duration, what string, cond func() bool) {
	f.Helper()
	for begin := time.Now(); time.Since(begin) < d; time.Sleep(time.Second) {
		if !cond() {
			f.Fatalf("after %v not any more: %s; log:\n%s", time.Since(begin), what, f.told())
		}
	}
}

func (f *fixture) told() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.log, "\n")
}

func (f *fixture) client() kubernetes.Interface {
	f.Helper()
	c, err := kubernetes.NewForConfig(f.srv.Config())
	if err != nil {
		f.Fatal(err)
	}
	return c
}

func (f *fixture) lease(name string) *coordinationv1.Lease {
	f.Helper()
	l, err := f.client().CoordinationV1().Leases(namespace).Get(f.Context(), name, metav1.GetOptions{})
	if err != nil {
		f.Fatal(err)
	}
	return l
}
