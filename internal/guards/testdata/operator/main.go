// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Command operator is the smallest client-go program that takes freshwatch: one
// informer, made by a monitor. It has no API server, so the informer never starts.
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

	"github.com/freshwatch/freshwatch/freshness"
)

func main() {
	if err := run(); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

func run() error {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "https://127.0.0.1:6443"})
	if err != nil {
		return err
	}
	monitor, err := freshness.New(freshness.Options{})
	if err != nil {
		return err
	}
	configMaps := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", corev1.NamespaceAll, fields.Everything())
	monitor.NewInformer(configMaps, &corev1.ConfigMap{}, 0, cache.Indexers{})
	for _, status := range monitor.Status() {
		fmt.Println(status.Informer, status.Verdict)
	}
	return monitor.Check(nil)
}
