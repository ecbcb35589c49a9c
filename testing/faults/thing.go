// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// thing is a kind as a Go program knows it. The server takes any data.
type thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Data thingData `json:"data"`
}

type thingData struct {
	Color string `json:"color"`
	Count int64  `json:"count"`
}

// DeepCopyObject implements runtime.Object.
func (t *thing) DeepCopyObject() runtime.Object {
	return &thing{TypeMeta: t.TypeMeta, ObjectMeta: *t.ObjectMeta.DeepCopy(), Data: t.Data}
}

type thingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []thing `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *thingList) DeepCopyObject() runtime.Object {
	out := &thingList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*thing))
	}
	return out
}

// typedLW is what a generated client would be.
func typedLW(cfg *rest.Config, client *http.Client, k kind, namespace string) (cache.ListerWatcher, error) {
	gv := k.read().GroupVersion()
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(gv.WithKind(k.Name), &thing{})
	scheme.AddKnownTypeWithName(gv.WithKind(k.Name+"List"), &thingList{})
	metav1.AddToGroupVersion(scheme, gv)

	cfg = rest.CopyConfig(cfg)
	cfg.GroupVersion, cfg.APIPath = &gv, "/apis"
	cfg.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	c, err := rest.RESTClientForConfigAndClient(cfg, client)
	if err != nil {
		return nil, err
	}
	return cache.NewListWatchFromClient(c, k.resource(), namespace, fields.Everything()), nil
}
