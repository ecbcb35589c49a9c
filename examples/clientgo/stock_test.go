// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"k8s.io/client-go/informers"
)

// stock is the same informer as client-go has it.
type stock struct {
	informers.SharedInformerFactory
}

func stockInformers(t *testing.T, c cluster) stock {
	t.Helper()
	factory := informers.NewSharedInformerFactoryWithOptions(newClient(t, c.config(t, "stock")), 0, informers.WithNamespace(namespace))
	factory.Core().V1().ConfigMaps().Informer()
	factory.Apps().V1().Deployments().Informer()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); factory.Shutdown() })
	factory.StartWithContext(ctx)
	factory.WaitForCacheSyncWithContext(ctx)
	return stock{factory}
}

// color is what both objects have in the caches, or why not.
func (s stock) color() string {
	cm, err1 := s.Core().V1().ConfigMaps().Lister().ConfigMaps(namespace).Get("settings")
	d, err2 := s.Apps().V1().Deployments().Lister().Deployments(namespace).Get("settings")
	if err := errors.Join(err1, err2); err != nil {
		return err.Error()
	}
	if cm.Data["color"] != d.Annotations["color"] {
		return fmt.Sprintf("%s and %s", cm.Data["color"], d.Annotations["color"])
	}
	return cm.Data["color"]
}
