// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// helperJob is the environment variable that makes the test binary an operator,
// in a process of its own that can be stopped. It holds a job in JSON.
const helperJob = "FRESHWATCH_E2E_HELPER"

// job is what the helper process has to do: run a guarded informer until its
// standard input ends, and tell on standard output what happens, one report a
// line.
type job struct {
	Kubeconfig, Agent      string
	Group, Kind, Namespace string
	Object                 string // whose color is to be reported
	FailAfter              time.Duration
	// Twins, if set, has it run twins instead, see transport_helpers_process_test.go.
	Twins *twinsJob `json:",omitempty"`
}

// report is a line from the helper.
type report struct {
	Event   *wireEvent   `json:",omitempty"`
	Sees    string       `json:",omitempty"` // the color that the object now has
	Failure string       `json:",omitempty"` // of Check, or of the helper itself
	Twins   *twinsReport `json:",omitempty"`
	At      time.Time
}

// wireEvent has numbers where an Event has names that only people read.
type wireEvent struct {
	freshness.Event
	Type, Verdict, Previous, Cure, Server int
}

func toWire(e freshness.Event) *wireEvent {
	return &wireEvent{Event: e, Type: int(e.Type), Verdict: int(e.Verdict), Previous: int(e.Previous), Cure: int(e.Cure), Server: int(e.Server)}
}

func (w *wireEvent) event() freshness.Event {
	e := w.Event
	e.Type, e.Cure, e.Server = freshness.EventType(w.Type), freshness.Rung(w.Cure), freshness.ServerState(w.Server)
	e.Verdict, e.Previous = freshness.Verdict(w.Verdict), freshness.Verdict(w.Previous)
	return e
}

// playHelper is the helper's main.
func playHelper(text string) {
	out := &reporter{enc: json.NewEncoder(os.Stdout)}
	var j job
	err := json.Unmarshal([]byte(text), &j)
	if err == nil {
		err = j.run(out)
	}
	if err != nil {
		out.send(report{Failure: "helper: " + err.Error()})
	}
}

type reporter struct {
	mu  sync.Mutex
	enc *json.Encoder
}

// send drops what nobody reads any more.
func (r *reporter) send(rep report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rep.At = time.Now()
	_ = r.enc.Encode(rep)
}

func (j job) run(out *reporter) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", j.Kubeconfig)
	if err != nil {
		return err
	}
	if j.Twins != nil {
		return j.runTwins(cfg, out)
	}
	cfg.UserAgent = j.Agent
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return err
	}
	m, err := freshness.New(freshness.Options{
		FailAfter: j.FailAfter,
		Observer:  func(e freshness.Event) { out.send(report{Event: toWire(e)}) },
	})
	if err != nil {
		return err
	}
	inf := m.NewInformer(dynamicLW(client, kind{group: j.Group, name: j.Kind}, j.Namespace), &unstructured.Unstructured{}, 0, cache.Indexers{})
	see := func(obj any) {
		if u, ok := obj.(*unstructured.Unstructured); ok && u.GetName() == j.Object {
			out.send(report{Sees: colorOf(u)})
		}
	}
	if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, obj any) { see(obj) }}); err != nil {
		return err
	}
	return j.untilInputEnds(out, m, inf)
}

// untilInputEnds runs everything until the test closes standard input, or dies.
func (j job) untilInputEnds(out *reporter, m *freshness.Monitor, inf cache.SharedIndexInformer) error {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { inf.RunWithContext(ctx) })
	wg.Go(func() {
		if err := m.Start(ctx); err != nil {
			out.send(report{Failure: err.Error()})
		}
	})
	wg.Go(func() {
		poll.Until(ctx, time.Hour, func() bool {
			if err := m.Check(nil); err != nil {
				out.send(report{Failure: err.Error()})
			}
			return false
		})
	})
	_, err := io.Copy(io.Discard, os.Stdin)
	cancel()
	wg.Wait()
	return err
}
