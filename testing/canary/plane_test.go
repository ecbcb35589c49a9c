// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// patience bounds what a real server does at once on an idle machine.
const patience = 2 * time.Minute

// plane is a real control plane with a proxy between its halves, and its
// administrator's client.
type plane struct {
	*controlplane.ControlPlane
	etcd  *faultproxy.Etcd
	http  *http.Client
	typed kubernetes.Interface
}

// startPlane starts a control plane. The caller stops it.
func startPlane(ctx context.Context) (_ *plane, err error) {
	p := &plane{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.stop())
		}
	}()
	p.ControlPlane, err = controlplane.Start(ctx, controlplane.Options{
		WrapEtcd: func(_ context.Context, url string) (string, error) {
			if p.etcd, err = faultproxy.NewEtcd(url, faultproxy.EtcdOptions{}); err != nil {
				return "", err
			}
			return p.etcd.URL(), nil
		},
	})
	if err != nil {
		return nil, err
	}
	cfg := p.Config()
	if p.http, err = rest.HTTPClientFor(cfg); err != nil {
		return nil, err
	}
	if p.typed, err = kubernetes.NewForConfigAndClient(cfg, p.http); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *plane) stop() error {
	var errs []error
	if p.ControlPlane != nil {
		errs = append(errs, p.Stop())
	}
	if p.etcd != nil {
		errs = append(errs, p.etcd.Close())
	}
	if p.http != nil {
		p.http.CloseIdleConnections()
	}
	return errors.Join(errs...)
}

// ownPlane starts a control plane for one test, which may do to it what it likes.
func ownPlane(t *testing.T) *plane {
	t.Helper()
	p, err := startPlane(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// sharedPlane is for the tests that do not disturb each other. The first that asks for
// it starts it.
var sharedPlane onePlane

type onePlane struct {
	mu    sync.Mutex
	plane *plane
	err   error
}

func (s *onePlane) get(t *testing.T) *plane {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plane == nil && s.err == nil {
		s.plane, s.err = startPlane(context.Background())
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.plane
}

func (s *onePlane) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plane == nil {
		return nil
	}
	return s.plane.stop()
}
