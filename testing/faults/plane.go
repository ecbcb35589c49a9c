// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// patience bounds what a real server does at once on an idle machine.
const patience = 3 * time.Minute

// plane is a real control plane, a proxy between each of its API servers and etcd,
// and the clients of an administrator, who goes past all proxies.
type plane struct {
	*controlplane.ControlPlane
	servers []server
	mutes   []*muteEtcd
	http    *http.Client
	typed   kubernetes.Interface
	dynamic dynamic.Interface
}

// server is one kube-apiserver.
type server struct {
	name   controlplane.Component
	config *rest.Config
	etcd   *faultproxy.Etcd
}

// startPlane starts a control plane. The caller stops it.
func startPlane(ctx context.Context, g ground, version string, log io.Writer) (_ *plane, err error) {
	p := &plane{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.stop())
		}
	}()
	var proxies []*faultproxy.Etcd
	p.ControlPlane, err = controlplane.Start(ctx, controlplane.Options{
		Version: version, Log: log, EtcdArgs: g.etcdArgs, APIServerArgs: g.serverArgs,
		WrapEtcd: func(_ context.Context, url string) (string, error) {
			if g.mute {
				mute, err := startMuteEtcd(url)
				if err != nil {
					return "", err
				}
				p.mutes, url = append(p.mutes, mute), mute.url()
			}
			etcd, err := faultproxy.NewEtcd(url, faultproxy.EtcdOptions{})
			if err != nil {
				return "", err
			}
			proxies = append(proxies, etcd)
			return etcd.URL(), nil
		},
	})
	for _, etcd := range proxies {
		p.servers = append(p.servers, server{name: controlplane.APIServer, etcd: etcd})
	}
	if err != nil {
		return nil, err
	}
	p.servers[0].config = p.Config()
	for range g.servers - 1 {
		name, cfg, err := p.AddAPIServer(ctx)
		if err != nil {
			return nil, err
		}
		p.servers = append(p.servers, server{name: name, config: cfg, etcd: proxies[len(proxies)-1]})
	}
	for _, m := range p.mutes {
		m.muted.Store(true)
	}
	return p, p.connect(p.Config())
}

func (p *plane) connect(cfg *rest.Config) error {
	var err error
	if p.http, err = rest.HTTPClientFor(cfg); err != nil {
		return err
	}
	if p.typed, err = kubernetes.NewForConfigAndClient(cfg, p.http); err != nil {
		return err
	}
	p.dynamic, err = dynamic.NewForConfigAndClient(cfg, p.http)
	return err
}

func (p *plane) stop() error {
	var errs []error
	if p.http != nil {
		p.http.CloseIdleConnections()
	}
	if p.ControlPlane != nil {
		errs = append(errs, p.Stop())
	}
	for _, s := range p.servers {
		errs = append(errs, s.etcd.Close())
	}
	for _, m := range p.mutes {
		errs = append(errs, m.close())
	}
	return errors.Join(errs...)
}

// namespace creates a namespace that no other row has.
func (p *plane) namespace(ctx context.Context) (string, error) {
	ns, err := p.typed.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "row-"}}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return ns.Name, nil
}

// serve has the API servers serve a kind.
func (p *plane) serve(ctx context.Context, k kind) error {
	crd, err := k.definition()
	if err != nil {
		return err
	}
	if _, err := p.dynamic.Resource(definitions()).Create(ctx, crd, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	for _, s := range p.servers {
		client, err := dynamic.NewForConfig(s.config)
		if err != nil {
			return err
		}
		served := func() bool {
			_, err = client.Resource(k.read()).List(ctx, metav1.ListOptions{Limit: 1})
			return err == nil
		}
		if !poll.Until(ctx, patience, served) {
			return fmt.Errorf("%s is not served within %v: %w", k.resource(), patience, err)
		}
	}
	return nil
}

// put stores an object.
func (p *plane) put(ctx context.Context, k kind, obj *unstructured.Unstructured) error {
	_, err := p.dynamic.Resource(k.stored()).Namespace(obj.GetNamespace()).
		Apply(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "administrator", Force: true})
	return err
}

// create stores an object that is not there yet, cheaply.
func (p *plane) create(ctx context.Context, k kind, obj *unstructured.Unstructured) error {
	_, err := p.dynamic.Resource(k.stored()).Namespace(obj.GetNamespace()).Create(ctx, obj, metav1.CreateOptions{})
	return err
}

// paint changes the color of an object, and tries for a while.
func (p *plane) paint(ctx context.Context, k kind, namespace, name, color string) error {
	patch := []byte(`{"data":{"color":"` + color + `"}}`)
	var err error
	done := func() bool {
		ctx, cancel := context.WithTimeout(ctx, patience/3)
		defer cancel()
		_, err = p.dynamic.Resource(k.stored()).Namespace(namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
		return err == nil
	}
	if !poll.Until(ctx, patience, done) {
		return fmt.Errorf("editing %s %s: %w", k.resource(), name, err)
	}
	return nil
}

// permit gives a user these rights on a kind in a namespace, and no others.
func (p *plane) permit(ctx context.Context, user string, k kind, namespace string, verbs ...string) error {
	_, err := p.typed.RbacV1().Roles(namespace).Update(ctx, &rbacv1.Role{ // creates it, too
		ObjectMeta: metav1.ObjectMeta{Name: "informer"},
		Rules:      []rbacv1.PolicyRule{{Verbs: verbs, APIGroups: []string{group}, Resources: []string{k.resource()}}},
	}, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	_, err = p.typed.RbacV1().RoleBindings(namespace).Update(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "informer"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "informer"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.UpdateOptions{})
	return err
}
