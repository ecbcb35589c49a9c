// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Command operator is a client-go program as it is before it takes freshwatch:
// what its go.mod holds is what the other one is compared with.
package main

import (
	"fmt"
	"log"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

func main() {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "https://127.0.0.1:6443"})
	if err != nil {
		log.Print(err)
		os.Exit(1)
	}
	configMaps := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", corev1.NamespaceAll, fields.Everything())
	informer := cache.NewSharedIndexInformer(configMaps, &corev1.ConfigMap{}, 0, cache.Indexers{})
	fmt.Println("synced:", informer.HasSynced())
}
