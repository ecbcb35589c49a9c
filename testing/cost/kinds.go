// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	group = "cost.freshwatch.example"
	// workers are many, since a new kind takes seconds until it is served, in which
	// there is nothing to do.
	workers = 64
	// servedWithin bounds the time until a new kind is served, among a thousand
	// others that are new.
	servedWithin = 5 * time.Minute
)

// resource returns the i-th kind.
func resource(i int) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: fmt.Sprintf("cost%ds", i)}
}

// addKinds creates the definitions of n kinds, and an object of each in each
// namespace, which also proves that it is served.
func (s *stage) addKinds(ctx context.Context, n int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next := make(chan int)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range next {
				if err := s.addKind(ctx, i); err != nil {
					errs[w] = fmt.Errorf("adding kind %d: %w", i, err)
					cancel()
					return
				}
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}

func (s *stage) addKind(ctx context.Context, i int) error {
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	if _, err := s.dynamic.Resource(crds).Create(ctx, definition(i), metav1.CreateOptions{}); err != nil {
		return err
	}
	for _, ns := range s.namespaces {
		obj := &unstructured.Unstructured{}
		obj.SetAPIVersion(group + "/v1")
		obj.SetKind(kindName(i))
		obj.SetName("only")
		var last error
		err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, servedWithin, true, func(ctx context.Context) (bool, error) {
			_, last = s.dynamic.Resource(resource(i)).Namespace(ns).Create(ctx, obj, metav1.CreateOptions{})
			return last == nil, nil
		})
		if err != nil {
			return errors.Join(err, last)
		}
	}
	return nil
}

func kindName(i int) string { return fmt.Sprintf("Cost%d", i) }

// definition describes the i-th kind: objects without any fields of their own.
func definition(i int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": resource(i).Resource + "." + group},
		"spec": map[string]any{
			"group": group,
			"scope": "Namespaced",
			"names": map[string]any{"kind": kindName(i), "plural": resource(i).Resource},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
			}},
		},
	}}
}
