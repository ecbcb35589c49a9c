// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
)

// repeatedly does something again and again until it is told to stop. What fails is
// done again.
func repeatedly(ctx context.Context, every time.Duration, do func(ctx context.Context, n int)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for n := 0; ; n++ {
			do(ctx, n)
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

// bustle writes to another kind, so that the resourceVersion of the datastore moves.
func (s *scene) bustle(ctx context.Context) (stop func()) {
	maps := s.typed.CoreV1().ConfigMaps(s.ns[0])
	return repeatedly(ctx, time.Second, func(ctx context.Context, n int) {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bustle"}, Data: map[string]string{"n": fmt.Sprint(n)}}
		if _, err := maps.Update(ctx, m, metav1.UpdateOptions{}); err != nil {
			_, _ = maps.Create(ctx, m, metav1.CreateOptions{}) // the next one tells
		}
	})
}

// writeMuch writes to the row's own kind, but not to the edited object.
func (s *scene) writeMuch(ctx context.Context) (stop func()) {
	return repeatedly(ctx, 300*time.Millisecond, func(ctx context.Context, n int) {
		_ = s.put(ctx, s.kind, s.kind.object(s.ns[0], "object-1", map[string]any{"color": fmt.Sprint(n)}))
	})
}

// ask sends requests of somebody else over the informers' connections.
func (s *scene) ask(ctx context.Context) (stop func(), err error) {
	t, err := s.twins()
	if err != nil {
		return nil, err
	}
	cfg, err := s.config(somebodyAgent)
	if err != nil {
		return nil, err
	}
	var clients []dynamic.ResourceInterface
	for _, c := range t.clients {
		client, err := dynamic.NewForConfigAndClient(cfg, &http.Client{Transport: &agent{name: somebodyAgent, RoundTripper: c.Transport}})
		if err != nil {
			return nil, err
		}
		clients = append(clients, client.Resource(s.kind.read()).Namespace(s.ns[0]))
	}
	return repeatedly(ctx, 100*time.Millisecond, func(ctx context.Context, _ int) {
		for _, c := range clients {
			_, _ = c.List(ctx, metav1.ListOptions{Limit: 1})
		}
	}), nil
}
