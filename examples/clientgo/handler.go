// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/transport"
)

const (
	// maxAge is how old what /configmaps answers may be.
	maxAge = 10 * time.Second
	// patience is how long it may take to be sure: a proof takes some 5 s where
	// nothing is wrong, and twice that where a silent watch is healed for it.
	patience = 30 * time.Second
)

// newHandler serves probes, metrics and reads.
func newHandler(monitor *freshness.Monitor, guard *transport.Transport, configMaps corelisters.ConfigMapNamespaceLister) (http.Handler, error) {
	registry := prometheus.NewRegistry()
	if err := errors.Join(registry.Register(monitor), registry.Register(guard)); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	// For livenessProbe, never readinessProbe.
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, r *http.Request) {
		if err := monitor.Check(r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	// For a person.
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		for _, st := range monitor.Status() {
			fmt.Fprintf(w, "%v: %v: %s\n", st.Informer, st.Verdict, st.Reason)
		}
	})
	// A read from the cache that is worth acting on: proven, or refused.
	mux.HandleFunc("GET /configmaps/{name}", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		if err := monitor.EnsureFresh(ctx, freshness.Informer{Resource: "configmaps"}, maxAge); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		cm, err := configMaps.Get(r.PathValue("name"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		_ = json.NewEncoder(w).Encode(cm.Data) // fails where the client is gone
	})
	return mux, nil
}
