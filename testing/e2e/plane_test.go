// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
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

	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// patience bounds what a real server does at once on an idle machine.
const patience = 2 * time.Minute

// plane is a real control plane, and what its administrator needs besides.
type plane struct {
	*realplane.Plane
	dynamic dynamic.Interface
}

// startPlane starts the control plane that the environment chooses. The caller
// stops it.
func startPlane(ctx context.Context) (*plane, error) {
	opts, err := chosen()
	if err != nil {
		return nil, err
	}
	p := &plane{}
	if p.Plane, err = realplane.Start(ctx, opts); err != nil {
		return nil, err
	}
	if p.dynamic, err = dynamic.NewForConfigAndClient(p.Config(), p.HTTP); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

func ownPlane(t *testing.T) *plane {
	t.Helper()
	return realplane.Own(t, startPlane)
}

// sharedPlane is for the tests that do not disturb each other.
var sharedPlane = realplane.Shared[*plane]{Start: startPlane}

// namespace creates a namespace that no other test has.
func (p *plane) namespace(t testing.TB, prefix string) string {
	t.Helper()
	ns, err := p.Typed.CoreV1().Namespaces().Create(t.Context(),
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
	return p.Typed.CoreV1().RESTClient().Patch(types.MergePatchType).
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
	if !poll.Until(t.Context(), patience, served) {
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
