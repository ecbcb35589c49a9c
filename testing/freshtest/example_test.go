// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// A watch falls silent without an error, and nobody is told.
func ExampleServer_Stall() {
	srv, err := freshtest.NewServer(freshtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	client, err := kubernetes.NewForConfig(srv.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	watch, err := client.CoreV1().ConfigMaps("default").Watch(context.Background(), metav1.ListOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer watch.Stop()

	configMaps := corev1.SchemeGroupVersion.WithResource("configmaps")
	stall := srv.Stall(configMaps)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"}}
	if err := srv.Create(cm); err != nil {
		fmt.Println(err)
		return
	}
	select {
	case event := <-watch.ResultChan():
		fmt.Println("delivered:", event.Type)
	default:
		fmt.Println("silent watches:", srv.Watches(configMaps))
	}
	stall.Lift()
	event := <-watch.ResultChan()
	fmt.Println("lifted:", event.Type, event.Object.(*corev1.ConfigMap).Name)
	// Output:
	// silent watches: 1
	// lifted: ADDED settings
}
