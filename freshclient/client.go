// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshclient

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/freshwatch/freshwatch/freshness"
)

// NewClientFunc returns what ctrl.Options.NewClient wants: client.New, and its
// writes reported to the monitor.
func NewClientFunc(m *freshness.Monitor) client.NewClientFunc {
	return func(cfg *rest.Config, opts client.Options) (client.Client, error) {
		inner, err := client.New(cfg, opts)
		if err != nil {
			return nil, err
		}
		return NewClient(inner, m)
	}
}

// NewClient returns inner with its writes reported to the monitor. It is safe for
// concurrent use if inner is.
func NewClient(inner client.Client, m *freshness.Monitor) (client.Client, error) {
	if inner == nil || m == nil {
		return nil, errors.New("freshclient: NewClient wants a client and a monitor, got nil")
	}
	return &writer{Client: inner, report: reporter{scheme: inner, mapper: inner.RESTMapper(), monitor: m}}, nil
}

// writer is a client whose writes are reported.
type writer struct {
	client.Client
	report reporter
}

// Create implements client.Writer.
func (w *writer) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	err := w.Client.Create(ctx, obj, opts...)
	if err == nil && len((&client.CreateOptions{}).ApplyOptions(opts).DryRun) == 0 {
		w.report.object(obj)
	}
	return err
}

// Update implements client.Writer.
func (w *writer) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	err := w.Client.Update(ctx, obj, opts...)
	if err == nil && len((&client.UpdateOptions{}).ApplyOptions(opts).DryRun) == 0 {
		w.report.object(obj)
	}
	return err
}

// Patch implements client.Writer.
func (w *writer) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	err := w.Client.Patch(ctx, obj, patch, opts...)
	if err == nil && len((&client.PatchOptions{}).ApplyOptions(opts).DryRun) == 0 {
		w.report.object(obj)
	}
	return err
}

// Apply implements client.Writer.
func (w *writer) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	err := w.Client.Apply(ctx, obj, opts...)
	if err == nil && len((&client.ApplyOptions{}).ApplyOptions(opts).DryRun) == 0 {
		w.report.applied(obj)
	}
	return err
}

// Status implements client.StatusClient.
func (w *writer) Status() client.SubResourceWriter { return w.SubResource("status") }

// SubResource implements client.SubResourceClientConstructor.
func (w *writer) SubResource(name string) client.SubResourceClient {
	return &subResourceWriter{SubResourceClient: w.Client.SubResource(name), report: w.report}
}

// subResourceWriter is a client of a subresource whose writes are reported. What
// Create makes is no version of the object, such as a token or an eviction.
type subResourceWriter struct {
	client.SubResourceClient
	report reporter
}

// Update implements client.SubResourceWriter.
func (w *subResourceWriter) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	err := w.SubResourceClient.Update(ctx, obj, opts...)
	if o := (&client.SubResourceUpdateOptions{}).ApplyOptions(opts); err == nil && len(o.DryRun) == 0 && o.SubResourceBody == nil {
		w.report.object(obj)
	}
	return err
}

// Patch implements client.SubResourceWriter.
func (w *subResourceWriter) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	err := w.SubResourceClient.Patch(ctx, obj, patch, opts...)
	if o := (&client.SubResourcePatchOptions{}).ApplyOptions(opts); err == nil && len(o.DryRun) == 0 && o.SubResourceBody == nil {
		w.report.object(obj)
	}
	return err
}

// Apply implements client.SubResourceWriter.
func (w *subResourceWriter) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	err := w.SubResourceClient.Apply(ctx, obj, opts...)
	if o := (&client.SubResourceApplyOptions{}).ApplyOpts(opts); err == nil && len(o.DryRun) == 0 && o.SubResourceBody == nil {
		w.report.applied(obj)
	}
	return err
}
