// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// stuck is the name of the object whose reconciles hang.
const stuck = "stuck"

// act is what the reconcile of the object called stuck does.
type act func(ctx context.Context, cm *corev1.ConfigMap) error

// attempt is one reconcile.
type attempt struct {
	began, ended time.Time // ended is zero while it runs
	cause, err   error     // why its context has ended, and what it returned
}

func (a attempt) took() time.Duration { return a.ended.Sub(a.began) }

// worker is a reconciler that keeps a diary.
type worker struct {
	controller string
	client     client.Client
	act        act

	mu       sync.Mutex
	attempts map[string][]attempt            // by object
	running  map[string]int                  // by object
	most     int                             // reconciles of one object at once
	seen     map[string]map[string]time.Time // when each content was seen first, by object
	latest   map[string]string               // content
}

func newWorker(o *operator, role string, act act) *worker {
	return &worker{
		controller: o.ns + "-" + role, client: o.mgr.GetClient(), act: act, attempts: map[string][]attempt{}, running: map[string]int{},
		seen: map[string]map[string]time.Time{}, latest: map[string]string{},
	}
}

// Reconcile implements reconcile.Reconciler.
func (w *worker) Reconcile(ctx context.Context, req ctrl.Request) (_ ctrl.Result, err error) {
	n := w.begin(req.Name)
	defer func() { w.end(req.Name, n, context.Cause(ctx), err) }()
	var cm corev1.ConfigMap
	if err := w.client.Get(ctx, req.NamespacedName, &cm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	w.see(req.Name, cm.Data["content"])
	if req.Name != stuck {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, w.act(ctx, &cm)
}

func (w *worker) begin(name string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running[name]++
	w.most = max(w.most, w.running[name])
	w.attempts[name] = append(w.attempts[name], attempt{began: time.Now()})
	return len(w.attempts[name]) - 1
}

func (w *worker) see(name, content string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[name] == nil {
		w.seen[name] = map[string]time.Time{}
	}
	if w.seen[name][content].IsZero() {
		w.seen[name][content] = time.Now()
	}
	w.latest[name] = content
}

func (w *worker) end(name string, n int, cause, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running[name]--
	a := &w.attempts[name][n]
	a.ended, a.cause, a.err = time.Now(), cause, err
}

// tried returns the reconciles of an object so far.
func (w *worker) tried(name string) []attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.attempts[name])
}

// returned returns those of the object called stuck that have.
func (w *worker) returned() []attempt {
	return slices.DeleteFunc(w.tried(stuck), func(a attempt) bool { return a.ended.IsZero() })
}

// sees tells which content of an object was seen last.
func (w *worker) sees(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest[name]
}

// sawAt returns when a content was seen first, zero: never.
func (w *worker) sawAt(name, content string) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[name][content]
}

// atOnce returns how many reconciles of one object ran at the same time, at most.
func (w *worker) atOnce() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.most
}
