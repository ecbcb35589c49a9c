// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package generations

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// patience bounds what a real server does at once on an idle machine.
const patience = 2 * time.Minute

// plane is a control plane whose kube-controller-manager is behind an L7 proxy, which is
// before an L4 one:
//
//	kube-controller-manager - api - tcp - kube-apiserver - Etcd - etcd
type plane struct {
	*realplane.Plane
	api *faultproxy.API
	tcp *faultproxy.TCP
	dir string
}

// sharedPlane is for all tests.
var sharedPlane = realplane.Shared[*plane]{Start: startPlane}

// startPlane starts one. Its proxies are there before the API server, whose port they
// have to know, and whose authority and tokens they cannot: they do not verify it, and
// kube-controller-manager, which gives up as anonymous, gets its token by a second start.
// Until then it waits for an API server that is down.
func startPlane(ctx context.Context) (_ *plane, err error) {
	p := &plane{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Stop())
		}
	}()
	if p.dir, err = os.MkdirTemp("", "generations-"); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	if p.tcp, err = faultproxy.NewTCP(address, faultproxy.TCPOptions{}); err != nil {
		return nil, err
	}
	upstream := &rest.Config{Host: "https://" + address, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	if p.api, err = faultproxy.NewAPI(upstream, faultproxy.APIOptions{Via: p.tcp.Addr()}); err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(p.dir, "controllers.kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, p.api.Config(&rest.Config{})); err != nil {
		return nil, err
	}
	down := p.tcp.Refuse()
	p.Plane, err = realplane.Start(ctx, controlplane.Options{
		APIServerPort:     port,
		ControllerManager: true,
		ControllerManagerArgs: []string{
			"--kubeconfig=" + kubeconfig,
			"--controllers=deployment-controller,statefulset-controller,daemonset-controller",
		},
	})
	if err != nil {
		return nil, err
	}
	if err := controlplane.WriteKubeconfig(kubeconfig, p.api.Config(p.Config())); err != nil {
		return nil, err
	}
	down.Lift()
	return p, p.Restart(ctx, controlplane.ControllerManager)
}

// Stop implements what realplane asks of a plane.
func (p *plane) Stop() error {
	var errs []error
	if p.Plane != nil {
		errs = append(errs, p.Plane.Stop())
	}
	if p.api != nil {
		errs = append(errs, p.api.Close())
	}
	if p.tcp != nil {
		errs = append(errs, p.tcp.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(p.dir))...)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("%v is no TCP address", l.Addr())
	}
	return addr.Port, nil
}
