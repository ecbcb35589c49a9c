// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/transport"
)

// With controller-runtime: everything that the manager makes from cfg is guarded.
func guardedManager(cfg *rest.Config) (ctrl.Manager, error) {
	guard, err := transport.Wrap(cfg, transport.Options{
		ExitOnUnauthorized: &transport.ExitOptions{}, // optional: exit, with a diagnosis, when the token is dead
	})
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{})
	if err != nil {
		return nil, err
	}
	if err := mgr.Add(guard); err != nil { // so that it knows when the process is shutting down
		return nil, err
	}
	return mgr, metrics.Registry.Register(guard)
}

// The documentation shows it; here it has to compile.
var _ = guardedManager

// Any client made from a wrapped config is guarded. Streams lists its watches,
// and EndStreams ends those of one resource: their informers resume.
func ExampleWrap() {
	srv, err := freshtest.NewServer(freshtest.Options{}) // stands for a cluster
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()

	cfg := srv.Config() // or rest.InClusterConfig, or ctrl.GetConfig
	guard, err := transport.Wrap(cfg, transport.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := client.CoreV1().ConfigMaps("default").Watch(context.Background(), metav1.ListOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Stop()

	for _, s := range guard.Streams() {
		fmt.Printf("%s in %q over %s, bounded: %v\n", s.GVR.Resource, s.Namespace, s.Protocol, s.Timeout <= transport.DefaultMaxWatch)
	}
	fmt.Println("ended:", guard.EndStreams(corev1.SchemeGroupVersion.WithResource("configmaps")))
	_, open := <-w.ResultChan()
	fmt.Println("still open:", open)
	// Output:
	// configmaps in "default" over HTTP/2.0, bounded: true
	// ended: 1
	// still open: false
}

// Bad options are refused, with what to write instead.
func ExampleOptions() {
	_, err := transport.Wrap(&rest.Config{}, transport.Options{MaxWatch: 10 * time.Second})
	fmt.Println(err)
	// Output: transport: Options.MaxWatch is 10s, but must be at least 30s (renewing watches is not free)
}
