// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// others is how many more ConfigMaps there are, so that it would show if they were
// all listed again.
const others = 50

// cluster is a real control plane with a fault proxy in each place where
// something can break:
//
//	operator -- TCP proxy --+
//	                        +-- API proxy -- kube-apiserver -- etcd proxy -- etcd
//	operator -- TCP proxy --+
type cluster struct {
	plane *controlplane.ControlPlane
	etcd  *faultproxy.Etcd
	api   *faultproxy.API
	links []*faultproxy.TCP
	admin client.Client // past all proxies
}

// startCluster starts it and creates what the operators look after.
func startCluster(ctx context.Context, version string, log io.Writer) (_ *cluster, err error) {
	c := &cluster{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.stop())
		}
	}()
	c.plane, err = controlplane.Start(ctx, controlplane.Options{
		Version: version, Log: log,
		WrapEtcd: func(_ context.Context, etcdURL string) (_ string, err error) {
			if c.etcd, err = faultproxy.NewEtcd(etcdURL, faultproxy.EtcdOptions{}); err != nil {
				return "", err
			}
			return c.etcd.URL(), nil
		},
	})
	if err != nil {
		return nil, err
	}
	if c.api, err = faultproxy.NewAPI(c.plane.Config(), faultproxy.APIOptions{}); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	if c.admin, err = client.New(c.plane.Config(), client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	return c, c.populate(ctx)
}

// connect returns the configuration of an operator of that name, which goes
// through the proxies over a connection of its own.
func (c *cluster) connect(name string) (*rest.Config, error) {
	link, err := faultproxy.NewTCP(c.api.Addr(), faultproxy.TCPOptions{})
	if err != nil {
		return nil, err
	}
	c.links = append(c.links, link)
	cfg := c.api.Config(c.plane.Config())
	cfg.Host = "https://" + link.Addr()
	cfg.UserAgent = userAgent(name)
	return cfg, nil
}

// stop ends everything that was started.
func (c *cluster) stop() error {
	var errs []error
	for _, link := range c.links {
		errs = append(errs, link.Close())
	}
	if c.api != nil {
		errs = append(errs, c.api.Close())
	}
	if c.plane != nil {
		errs = append(errs, c.plane.Stop())
	}
	if c.etcd != nil {
		errs = append(errs, c.etcd.Close())
	}
	return errors.Join(errs...)
}

// populate creates the custom resource and all objects.
func (c *cluster) populate(ctx context.Context) error {
	crd := widgetDefinition()
	if err := c.admin.Create(ctx, crd); err != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		err := c.admin.Get(ctx, client.ObjectKeyFromObject(crd), crd)
		for _, cond := range crd.Status.Conditions {
			if cond.Type == apiextensionsv1.Established && cond.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}
		return false, err
	})
	if err != nil {
		return fmt.Errorf("waiting for the custom resource to be served: %w", err)
	}
	objects := []client.Object{settings.named(string(settings), "red"), gadget.named(string(gadget), "red")}
	for i := range others {
		objects = append(objects, settings.named(fmt.Sprintf("other-%02d", i), "red"))
	}
	for _, obj := range objects {
		if err := c.admin.Create(ctx, obj); err != nil {
			return err
		}
	}
	return nil
}

// edit gives an object another color.
func (c *cluster) edit(ctx context.Context, o object, color string) error {
	patch := fmt.Sprintf(`{%q:{"color":%q}}`, o.field(), color)
	return c.admin.Patch(ctx, o.named(string(o), color), client.RawPatch(types.MergePatchType, []byte(patch)))
}

// cost is what an operator has sent and been sent since the fault.
type cost struct {
	requests map[string]int // until it saw the edit, by verb
	relisted int64          // objects sent to fill a cache anew
}

// costOf sums up an operator's requests since from, and the objects they brought;
// the requests only until it saw the edit.
func (c *cluster) costOf(name string, from, seen time.Time) cost {
	sum := cost{requests: map[string]int{}}
	for _, r := range c.api.Requests(faultproxy.Match{UserAgent: userAgent(name)}) {
		if r.Start.Before(from) {
			continue
		}
		sum.relisted += r.Objects + r.InitialObjects
		if !r.Start.After(seen) {
			sum.requests[r.Verb]++
		}
	}
	return sum
}

func userAgent(name string) string { return "quickstart-" + name }
