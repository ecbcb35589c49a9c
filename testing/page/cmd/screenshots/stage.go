// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/freshwatch/freshwatch"
	"github.com/freshwatch/freshwatch/debugpage"
	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// stage is a control plane with a proxy before it, and an operator that runs.
type stage struct {
	plane   *controlplane.ControlPlane
	api     *faultproxy.API
	admin   client.Client
	guard   *freshwatch.Guard
	address string
	group   errgroup.Group
	cancel  context.CancelFunc
}

const namespace = "default"

func startStage(ctx context.Context, log io.Writer) (_ *stage, err error) {
	s := &stage{cancel: func() {}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	if s.plane, err = controlplane.Start(ctx, controlplane.Options{Log: log}); err != nil {
		return nil, err
	}
	if s.api, err = faultproxy.NewAPI(s.plane.Config(), faultproxy.APIOptions{}); err != nil {
		return nil, err
	}
	if s.admin, err = client.New(s.plane.Config(), client.Options{}); err != nil {
		return nil, err
	}
	if err := create(ctx, s.admin); err != nil {
		return nil, err
	}
	if s.address, err = freeAddress(); err != nil {
		return nil, err
	}
	mgr, err := freshwatch.NewManager(s.api.Config(s.plane.Config()), ctrl.Options{
		Metrics:                 metricsserver.Options{BindAddress: s.address},
		LeaderElectionNamespace: namespace, // of the canary's Lease
	}, freshwatch.Options{
		Registerer: prometheus.NewRegistry(),
		Canary:     watchcanary.Options{Interval: 5 * time.Second}, // for a chart within minutes
		DebugPage:  debugpage.Options{Title: "inference-operator"},
	})
	if err != nil {
		return nil, err
	}
	s.guard = mgr.Guard
	if err := addControllers(mgr); err != nil {
		return nil, err
	}
	ctx, s.cancel = context.WithCancel(ctx)
	s.group.Go(func() error { return mgr.Start(ctx) })
	s.group.Go(func() error { return edit(ctx, s.admin) })
	return s, nil
}

func (s *stage) url() string { return "http://" + s.address + freshwatch.DefaultDebugPath }

// stop ends all that was started.
func (s *stage) stop() error {
	s.cancel()
	errs := []error{s.group.Wait()}
	if s.api != nil {
		errs = append(errs, s.api.Close())
	}
	if s.plane != nil {
		errs = append(errs, s.plane.Stop())
	}
	return errors.Join(errs...)
}

// silence has every watch of ConfigMaps say nothing any more, those to come included, as a
// proxy does that holds streams back.
func (s *stage) silence() *faultproxy.Injection {
	return s.api.Inject(faultproxy.Match{Verb: "watch", Resource: "configmaps"}, faultproxy.Silence{})
}

// holdLists holds their responses back.
func (s *stage) holdLists() *faultproxy.Injection {
	return s.api.Inject(faultproxy.Match{Verb: "list", Resource: "configmaps"}, faultproxy.HoldHeaders{})
}

// await waits until the flight recorder shows something.
func (s *stage) await(ctx context.Context, shows func(flightrecorder.Snapshot) bool) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(warmUp + patience); ; {
		now := s.guard.Recorder().Snapshot()
		switch {
		case shows(now):
			return nil
		case time.Now().After(end):
			return fmt.Errorf("not seen within %v; it is: %s", warmUp+patience, now.Diagnosis)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
