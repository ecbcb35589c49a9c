// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/freshwatch/freshwatch/apiservers"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// One of two API servers is frozen: what is written does not reach its watch cache,
// nor anybody whose watch it serves.
func ExampleServers_WatchCaches() {
	// Stands for one with two API servers. A frozen one takes 3 s for its answer there.
	cluster, err := startCluster(freshtest.Options{FreshWait: 100 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cluster.close()

	servers, err := apiservers.New(cluster.cfg, apiservers.Options{
		Addresses: []string{"10.0.0.1:6443", "10.0.0.2:6443"}, // or found, in EndpointSlice default/kubernetes
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	cluster.two.FreezeWatchCache(configMaps)
	for n := range 5 {
		if err := cluster.write(n); err != nil {
			fmt.Println(err)
			return
		}
	}

	caches, err := servers.WatchCaches(context.Background(), corev1.SchemeGroupVersion.WithResource("configmaps"), "")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, cache := range caches {
		fmt.Println(cache.Server, "is at", cache.ResourceVersion, cache.Err)
	}
	// Output:
	// 10.0.0.1:6443 is at 105 <nil>
	// 10.0.0.2:6443 is at 100 <nil>
}

// A program without the right to read the addresses learns which rule it needs.
func ExampleRightsError() {
	cluster, err := startCluster(freshtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cluster.close()
	cluster.usual.Deny(endpointSlices)

	_, err = apiservers.Find(context.Background(), cluster.cfg)
	if missing, ok := errors.AsType[*apiservers.RightsError](err); ok {
		rule, err := yaml.Marshal(missing.Rule)
		fmt.Printf("Role in namespace %s, error %v:\n%s", missing.Namespace, err, rule)
	}
	// Output:
	// Role in namespace default, error <nil>:
	// apiGroups:
	// - discovery.k8s.io
	// resourceNames:
	// - kubernetes
	// resources:
	// - endpointslices
	// verbs:
	// - get
}
