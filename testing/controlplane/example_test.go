// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"context"
	"fmt"
	"log"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/freshwatch/freshwatch/testing/controlplane"
)

// In a test, call Stop by t.Cleanup. Without binaries at hand the first run builds them, which takes some ten minutes.
func Example() {
	ctx := context.Background()
	server, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop()

	client, err := kubernetes.NewForConfig(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	namespaces, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(namespaces.Items) > 0)
	// Output: true
}
