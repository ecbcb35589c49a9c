// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// A panic is controller-runtime's to recover from and to count, as ever: the request is
// tried again, and nothing is left behind.
func TestPanicPasses(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	o := newOperator(t, p, operatorOptions{})
	var panicked atomic.Int32
	w := o.add(t, "panics", workers(1), func(context.Context, *corev1.ConfigMap) error {
		if panicked.Add(1) <= 2 {
			panic("out of order")
		}
		return nil
	})
	o.start(t)
	edit(t.Context(), t, p, o.ns, stuck, "first")
	await(t, patience, "success after panics", func() bool { return len(w.returned()) >= 3 })
	if got := theirs(t, "controller_runtime_reconcile_panics_total", w.controller); got != 2 {
		t.Errorf("%v panics are counted, want 2", got)
	}
	for _, l := range o.journal.find(saidFailed, w.controller) {
		if l.err.Error() != "panic: out of order [recovered]" {
			t.Errorf("the error is %v", l.err)
		}
	}
	o.wantIdle(t)
	o.wantCounts(t, w.controller, map[string]float64{"running": 0, "deadline_overruns_total": 0, "wedges_total": 0})
}

// With RecoverPanic off it is the process's end, with the value that it had.
func TestPanicIsNotRecovered(t *testing.T) {
	realplane.Test(t)
	o := newOperator(t, sharedPlane.Get(t), operatorOptions{})
	value := errors.New("out of order")
	inner := ctrlreconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) { panic(value) })
	name := o.ns + "-panics"
	d, err := reconcile.WithDeadlines(inner, o.deadlines, name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := controller.NewUnmanaged(name, controller.Options{Reconciler: d, RecoverPanic: new(false)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		got := recover()
		if err, _ := got.(error); !errors.Is(err, value) {
			t.Errorf("the panic's value is %v", got)
		}
		if got := theirs(t, "controller_runtime_reconcile_panics_total", name); got != 1 {
			t.Errorf("%v panics are counted, want 1", got)
		}
		o.wantIdle(t)
	}()
	_, err = c.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: o.ns, Name: stuck}})
	t.Errorf("it returned %v", err)
}

// A worker that ends in the middle takes no entry with it.
func TestGoexit(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	o := newOperator(t, p, operatorOptions{})
	var exited atomic.Bool
	w := o.add(t, "exits", workers(2), func(context.Context, *corev1.ConfigMap) error {
		if exited.CompareAndSwap(false, true) {
			runtime.Goexit()
		}
		return nil
	})
	o.start(t)
	edit(t.Context(), t, p, o.ns, stuck, "first")
	await(t, patience, "the end of a worker", func() bool { return len(w.returned()) == 1 })
	o.wantIdle(t)
	edit(t.Context(), t, p, o.ns, stuck, "second")
	await(t, patience, "the other worker goes on", func() bool { return w.through("second") })
	o.wantCounts(t, w.controller, map[string]float64{"running": 0, "held_twice_total": 0, "deadline_overruns_total": 0})
}
