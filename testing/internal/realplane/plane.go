// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package realplane gives tests a real control plane with a fault proxy between its
// halves, one of their own or one that they share.
package realplane

import (
	"context"
	"errors"
	"net/http"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// Plane is a real control plane with a proxy between its halves, and its
// administrator's client.
type Plane struct {
	*controlplane.ControlPlane
	Etcd  *faultproxy.Etcd
	HTTP  *http.Client
	Typed kubernetes.Interface
}

// Start starts a control plane. The caller stops it.
func Start(ctx context.Context, opts controlplane.Options) (_ *Plane, err error) {
	p := &Plane{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Stop())
		}
	}()
	opts.WrapEtcd = func(_ context.Context, url string) (string, error) {
		etcd, err := faultproxy.NewEtcd(url, faultproxy.EtcdOptions{})
		if err != nil {
			return "", err
		}
		p.Etcd = etcd
		return etcd.URL(), nil
	}
	if p.ControlPlane, err = controlplane.Start(ctx, opts); err != nil {
		return nil, err
	}
	cfg := p.Config()
	if p.HTTP, err = rest.HTTPClientFor(cfg); err != nil {
		return nil, err
	}
	if p.Typed, err = kubernetes.NewForConfigAndClient(cfg, p.HTTP); err != nil {
		return nil, err
	}
	return p, nil
}

// Stop stops all that Start has started.
func (p *Plane) Stop() error {
	var errs []error
	if p.ControlPlane != nil {
		errs = append(errs, p.ControlPlane.Stop())
	}
	if p.Etcd != nil {
		errs = append(errs, p.Etcd.Close())
	}
	if p.HTTP != nil {
		p.HTTP.CloseIdleConnections()
	}
	return errors.Join(errs...)
}
