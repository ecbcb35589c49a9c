// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch/reconcile"
)

// Manager is a manager that is guarded, for Complete to find the Guard by.
type Manager struct {
	manager.Manager
	Guard *Guard
}

// NewManager takes the place of ctrl.NewManager. It is New, PrepareConfig, ctrl.NewManager
// with what PrepareManager makes of o, and AddTo. It changes cfg in place, so that every
// client that is made from cfg afterwards is guarded as well; it cannot be called with the
// same cfg again.
func NewManager(cfg *rest.Config, o ctrl.Options, guards Options) (*Manager, error) {
	g, err := New(guards)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(g.PrepareConfig(cfg), g.PrepareManager(&o)); err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(cfg, o)
	if err != nil {
		return nil, err
	}
	if err := g.AddTo(mgr); err != nil {
		return nil, err
	}
	return &Manager{Manager: mgr, Guard: g}, nil
}

// Complete makes a controller of that name with mgr's deadlines: it takes the place of the
// builder's Named and Complete. mgr has to be what NewManager has returned, or a Manager
// that was put together from a manager and its Guard. Where deadlines are off, it is
// b.Named(name).Complete(r).
func Complete[request comparable](mgr ctrl.Manager, name string, b *builder.TypedBuilder[request], r ctrlreconcile.TypedReconciler[request]) error {
	guarded, ok := mgr.(*Manager)
	switch {
	case !ok || guarded == nil || guarded.Guard == nil:
		return fmt.Errorf("freshwatch: Complete wants the *freshwatch.Manager that NewManager returns, got a %T: put one together from your manager and its Guard, or call reconcile.Complete", mgr)
	case b == nil:
		return errors.New("freshwatch: Complete wants a builder, as from ctrl.NewControllerManagedBy, got nil")
	case guarded.Guard.opts.Disable.Reconcile:
		return b.Named(name).Complete(r)
	case guarded.Guard.Deadlines() == nil:
		return errors.New("freshwatch: Complete was called before Guard.AddTo, which makes the deadlines")
	}
	return reconcile.Complete(guarded.Guard.Deadlines(), name, b, r)
}
