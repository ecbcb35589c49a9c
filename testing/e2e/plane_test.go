// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// patience bounds what a real server does at once on an idle machine.
const patience = 2 * time.Minute

// plane is a real control plane with a proxy between its halves, and what its
// administrator needs.
type plane struct {
	*controlplane.ControlPlane
	etcd    *faultproxy.Etcd
	http    *http.Client
	typed   kubernetes.Interface
	dynamic dynamic.Interface
}

// startPlane starts the control plane that the environment chooses. The caller
// stops it.
func startPlane(ctx context.Context) (*plane, error) {
	p := &plane{}
	opts, err := chosen()
	if err != nil {
		return nil, err
	}
	opts.WrapEtcd = func(_ context.Context, url string) (string, error) {
		if p.etcd, err = faultproxy.NewEtcd(url, faultproxy.EtcdOptions{}); err != nil {
			return "", err
		}
		return p.etcd.URL(), nil
	}
	if p.ControlPlane, err = controlplane.Start(ctx, opts); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	if err := p.connect(p.Config()); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
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

// sharedPlane is for the tests that do not disturb each other. The first that
// asks for it starts it.
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

// namespace creates a namespace that no other test has.
func (p *plane) namespace(t testing.TB, prefix string) string {
	t.Helper()
	ns, err := p.typed.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// put stores an object as someone else.
func (p *plane) put(t testing.TB, obj *unstructured.Unstructured, k kind) {
	t.Helper()
	_, err := p.dynamic.Resource(k.gvr()).Namespace(obj.GetNamespace()).
		Apply(t.Context(), obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "someone-else", Force: true})
	if err != nil {
		t.Fatalf("putting %s %s: %v", k.name, obj.GetName(), err)
	}
}

// update changes the color of a core object, cheaply.
func (p *plane) update(ctx context.Context, k kind, namespace, name, color string) error {
	patch := []byte(`{"metadata":{"annotations":{"color":"` + color + `"}}}`)
	return p.typed.CoreV1().RESTClient().Patch(types.MergePatchType).
		Namespace(namespace).Resource(k.resource()).Name(name).Body(patch).Do(ctx).Error()
}

// serve has the API server serve a kind.
func (p *plane) serve(t testing.TB, k kind) {
	t.Helper()
	if k.group == "" {
		return
	}
	obj, err := runtime.DefaultUnstructuredConverter.ToUnstructured(definition(k))
	if err != nil {
		t.Fatal(err)
	}
	crd := custom("CustomResourceDefinition")
	crd.group = apiextensionsv1.GroupName
	u := crd.object("", "", "")
	u.Object = obj
	u.SetGroupVersionKind(crd.gvk())
	if _, err := p.dynamic.Resource(crd.gvr()).Create(t.Context(), u, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	served := func() bool {
		_, err := p.dynamic.Resource(k.gvr()).List(t.Context(), metav1.ListOptions{Limit: 1})
		return err == nil
	}
	if !waitFor(t.Context(), patience, served) {
		t.Fatalf("%s is not served within %v", k.gvr(), patience)
	}
}

// definition describes a kind with data of strings, like a ConfigMap.
func definition(k kind) *apiextensionsv1.CustomResourceDefinition {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: k.resource() + "." + k.group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: k.group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: k.name, Plural: k.resource()},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{"data": {
						Type:                 "object",
						AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &text},
					}},
				}},
			}},
		},
	}
}
