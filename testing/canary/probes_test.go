// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/freshwatch/freshwatch/watchcanary"
)

// serve answers probes and scrapes until ctx ends. It does so itself because a manager
// does not tell which port it has.
func (r *replica) serve(ctx context.Context, wg *sync.WaitGroup, c *watchcanary.Canary) error {
	liveness := map[string]healthz.Checker{"ping": healthz.Ping}
	registry := prometheus.NewRegistry()
	if c != nil {
		liveness["watch-canary"] = c.Check
		if err := registry.Register(c); err != nil {
			return err
		}
	}
	mux := http.NewServeMux()
	for path, checks := range map[string]map[string]healthz.Checker{"/healthz": liveness, "/readyz": {"ping": healthz.Ping}} {
		h := http.StripPrefix(path, &healthz.Handler{Checks: checks})
		mux.Handle(path, h)
		mux.Handle(path+"/", h)
	}
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))

	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	wg.Go(func() {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			r.out.send(report{Log: err.Error()})
		}
	})
	wg.Go(func() {
		<-ctx.Done()
		_ = srv.Close()
	})
	r.out.send(report{Address: ln.Addr().String()})
	return nil
}
