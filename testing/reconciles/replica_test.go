// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch/reconcile"
)

const (
	// replicaVariable is the environment variable that makes the test binary a replica of
	// an operator. What it has to do is the first line of its standard input; it ends with
	// that, or with SIGTERM, and tells on its standard output what happens.
	replicaVariable = "FRESHWATCH_RECONCILES_REPLICA"

	election = "the-operator" // the Lease of its leader election
	role     = "operator"     // its controller
)

// spec is what a replica has to do.
type spec struct {
	Kubeconfig, Namespace, Name string
	Wedges                      bool // the reconcile of the object called stuck hangs for good
}

// report is a line from a replica.
type report struct {
	At           time.Time
	Address      string `json:",omitempty"` // it is probed at
	Object, Sees string `json:",omitempty"` // an object that was reconciled, and its content
	Log          string `json:",omitempty"`
}

// replica is an operator's process.
type replica struct {
	spec
	mu  sync.Mutex
	out *json.Encoder
}

// playReplica is the replica's main.
func playReplica(stdin io.Reader, stdout io.Writer) error {
	r := &replica{out: json.NewEncoder(stdout)}
	in := bufio.NewReader(stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, &r.spec); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, in) // the test has ended, or died
		stop()
	}()
	return r.run(ctx)
}

// send drops what nobody reads any more.
func (r *replica) send(rep report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rep.At = time.Now()
	_ = r.out.Encode(rep)
}

func (r *replica) run(ctx context.Context) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", r.Kubeconfig)
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(cfg, manager.Options{
		LeaderElection:                true,
		LeaderElectionID:              election,
		LeaderElectionNamespace:       r.Namespace,
		LeaderElectionReleaseOnCancel: true,
		RetryPeriod:                   new(500 * time.Millisecond),
		GracefulShutdownTimeout:       new(time.Second),
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{r.Namespace: {}}},
	})
	if err != nil {
		return err
	}
	opts := reconcile.DeadlinesOptions{Restarts: reconcile.RestartBudgetOptions{Namespace: r.Namespace}}
	opts.Default.Timeout, opts.Default.Grace, opts.Default.FailAfter = time.Second, time.Second, time.Second
	opts.Default.Logger = funcr.New(func(_, args string) { r.send(report{Log: args}) }, funcr.Options{})
	d, err := reconcile.NewDeadlines(mgr, opts)
	if err != nil {
		return err
	}
	if err := mgr.Add(d); err != nil {
		return err
	}
	b := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).WithOptions(workers(2))
	if err := reconcile.Complete(d, role, b, r.reconciler(mgr.GetClient())); err != nil {
		return err
	}
	if err := r.serve(ctx, d); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func (r *replica) reconciler(c client.Client) ctrlreconcile.Reconciler {
	return ctrlreconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
		var cm corev1.ConfigMap
		if err := c.Get(ctx, req.NamespacedName, &cm); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		if r.Wedges && cm.Name == stuck {
			holdOn(make(chan struct{}))
		}
		r.send(report{Object: cm.Name, Sees: cm.Data["content"]})
		return ctrl.Result{}, nil
	})
}

// serve answers probes and scrapes until ctx ends. It does so itself because a manager
// does not tell which port it has.
func (r *replica) serve(ctx context.Context, d *reconcile.Deadlines) error {
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(d); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/healthz", http.StripPrefix("/healthz", &healthz.Handler{Checks: map[string]healthz.Checker{"reconciles": d.Check}}))
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			r.send(report{Log: err.Error()})
		}
	}()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	r.send(report{Address: ln.Addr().String()})
	return nil
}
