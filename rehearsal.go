// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"

	"github.com/freshwatch/freshwatch/freshevents"
	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/transport"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// rehearse makes the parts that want a manager with none, and throws them away, so that
// their options are checked before there is one. Nothing is sent.
func (o Options) rehearse() (errs []error) {
	const somewhere = "default" // where the namespace is not known yet
	note := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	def(&o.Canary.Namespace, somewhere)
	def(&o.Reconcile.Restarts.Namespace, somewhere)
	if !o.Disable.Transport {
		_, err := transport.Wrap(nobody{}.GetConfig(), o.Transport)
		note(err)
	}
	if !o.Disable.Canary {
		_, err := watchcanary.New(nobody{}, o.Canary)
		note(err)
	}
	if !o.Disable.Reconcile {
		_, err := reconcile.NewDeadlines(nobody{}, o.Reconcile)
		note(err)
	}
	if len(o.Generations) > 0 { // the kinds themselves need the manager's scheme
		some := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
		_, err := reconcile.NewGenerations(nobody{}, []reconcile.GenerationKind{{Object: some}}, o.GenerationOptions)
		note(err)
	}
	if !o.Disable.Events {
		_, err := freshevents.New(nobody{}, o.Events)
		note(err)
	}
	return errs
}

// nobody is a manager as far as constructors look at one.
type nobody struct{}

func (nobody) GetConfig() *rest.Config                 { return &rest.Config{Host: "https://nowhere.invalid"} }
func (nobody) GetHTTPClient() *http.Client             { return &http.Client{} }
func (nobody) GetControllerOptions() config.Controller { return config.Controller{} }
func (nobody) GetAPIReader() client.Reader             { return nil }
func (nobody) GetScheme() *runtime.Scheme              { return runtime.NewScheme() }
func (nobody) GetRESTMapper() meta.RESTMapper          { return nil }
