// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"net/http"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// clients share one connection.
type clients struct {
	http     *http.Client
	typed    kubernetes.Interface
	dynamic  dynamic.Interface
	metadata metadata.Interface
}

func newClients(cfg *rest.Config) (clients, error) {
	shared, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return clients{}, err
	}
	typed, err1 := kubernetes.NewForConfigAndClient(cfg, shared)
	untyped, err2 := dynamic.NewForConfigAndClient(cfg, shared)
	partial, err3 := metadata.NewForConfigAndClient(cfg, shared)
	return clients{shared, typed, untyped, partial}, errors.Join(err1, err2, err3)
}
