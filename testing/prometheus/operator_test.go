// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/transport"
	"github.com/freshwatch/freshwatch/watchcanary"
)

const (
	// operatorVariable is the environment variable that makes the test binary an operator.
	// What it has to do is the first line of its standard input; it ends with that, or with
	// SIGTERM, and tells on its standard output what it logs.
	operatorVariable = "FRESHWATCH_PROMETHEUS_OPERATOR"

	election = "the-operator" // the Lease of its leader election
	stuck    = "stuck"        // an object at which the cache of a blocked operator hangs
)

// spec is what an operator has to do.
type spec struct {
	Kubeconfig, Namespace, Name string
	Address                     string // its metrics and probes are served at
	Hasty                       bool   // all periods are as short as they may be
	Alone                       bool   // it elects no leader
	Blocks                      bool   // the transform of its cache hangs at the object called stuck
	Templates                   bool   // it reconciles PodTemplates, which nobody else watches, and not ConfigMaps
}

// report is a line from an operator.
type report struct {
	At  time.Time
	Log string `json:",omitempty"`
}

// operator is an operator's process, with everything that freshwatch has.
type operator struct {
	spec
	registry *prometheus.Registry
	monitor  *freshness.Monitor
	checks   map[string]healthz.Checker

	mu  sync.Mutex
	out *json.Encoder
}

// playOperator is the operator's main.
func playOperator(stdin io.Reader, stdout io.Writer) error {
	o := &operator{out: json.NewEncoder(stdout), registry: prometheus.NewRegistry(), checks: map[string]healthz.Checker{}}
	in := bufio.NewReader(stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, &o.spec); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, in) // the test has ended, or died
		stop()
	}()
	return o.run(ctx)
}

// Write implements io.Writer for one line of a log. It drops what nobody reads any more.
func (o *operator) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.out.Encode(report{At: time.Now(), Log: string(line)})
	return len(line), nil
}

func (o *operator) run(ctx context.Context) error {
	logger := funcr.New(func(prefix, args string) { _, _ = fmt.Fprintf(o, "%s %s", prefix, args) }, funcr.Options{})
	cfg, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return err
	}
	guard, err := transport.Wrap(cfg, transport.Options{Logger: logger, ExitOnUnauthorized: &transport.ExitOptions{}})
	if err != nil {
		return err
	}
	fo := freshness.Options{Connections: guard, Logger: logger}
	if o.Hasty {
		fo.MaxStaleness = freshness.MinMaxStaleness
	}
	if o.monitor, err = freshness.New(fo); err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(cfg, manager.Options{
		LeaderElection:                !o.Alone,
		LeaderElectionID:              election,
		LeaderElectionNamespace:       o.Namespace,
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       new(2 * time.Second),
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{
			NewInformer:       o.monitor.NewInformer,
			DefaultNamespaces: map[string]cache.Config{o.Namespace: {}},
			DefaultTransform:  o.transform(),
		},
		Logger: logger,
	})
	if err != nil {
		return err
	}
	if err := errors.Join(mgr.Add(guard), mgr.Add(o.monitor), o.registry.Register(guard), o.registry.Register(o.monitor)); err != nil {
		return err
	}
	o.checks["freshness"] = o.monitor.Check
	if err := errors.Join(o.addCanary(mgr), o.addControllers(mgr), o.addGenerations(mgr)); err != nil {
		return err
	}
	if err := o.serve(ctx); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func (o *operator) transform() toolscache.TransformFunc {
	if !o.Blocks {
		return nil
	}
	return func(obj any) (any, error) {
		if cm, ok := obj.(*corev1.ConfigMap); ok && cm.Name == stuck {
			select {}
		}
		return obj, nil
	}
}

func (o *operator) addCanary(mgr manager.Manager) error {
	opts := watchcanary.Options{Monitor: o.monitor, Namespace: o.Namespace, Identity: o.Name, Logger: mgr.GetLogger()}
	if o.Hasty {
		opts.Interval, opts.FailAfter = 2*time.Second, 15*time.Second
	}
	canary, err := watchcanary.New(mgr, opts)
	if err != nil {
		return err
	}
	o.checks["watch-canary"] = canary.Check
	return errors.Join(mgr.Add(canary), o.registry.Register(canary))
}

// addControllers adds one that reads, through a gate, and one that reports generations, as
// kube-controller-manager would if there were one.
func (o *operator) addControllers(mgr manager.Manager) error {
	deadlines, err := reconcile.NewDeadlines(mgr, reconcile.DeadlinesOptions{Restarts: reconcile.RestartBudgetOptions{Namespace: o.Namespace}})
	if err != nil {
		return err
	}
	o.checks["reconcile"] = deadlines.Check
	var obj client.Object = &corev1.ConfigMap{}
	if o.Templates {
		obj = &corev1.PodTemplate{}
	}
	reads := ctrlreconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
		return ctrl.Result{}, client.IgnoreNotFound(mgr.GetClient().Get(ctx, req.NamespacedName, obj.DeepCopyObject().(client.Object)))
	})
	kinds, err := reconcile.Kinds(mgr.GetClient(), obj)
	if err != nil {
		return err
	}
	gate, err := reconcile.WithGate(reads, o.monitor, kinds, reconcile.GateOptions{Name: "settings", Logger: mgr.GetLogger()})
	if err != nil {
		return err
	}
	reports := ctrlreconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
		var d appsv1.Deployment
		if err := mgr.GetClient().Get(ctx, req.NamespacedName, &d); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		if d.Status.ObservedGeneration == d.Generation {
			return ctrl.Result{}, nil
		}
		d.Status.ObservedGeneration = d.Generation
		return ctrl.Result{}, mgr.GetClient().Status().Update(ctx, &d)
	})
	return errors.Join(
		mgr.Add(deadlines), o.registry.Register(deadlines), o.registry.Register(gate),
		reconcile.Complete(deadlines, "settings", ctrl.NewControllerManagedBy(mgr).For(obj), ctrlreconcile.Reconciler(gate)),
		reconcile.Complete(deadlines, "deployments", ctrl.NewControllerManagedBy(mgr).For(&appsv1.Deployment{}), ctrlreconcile.Reconciler(reports)),
	)
}

func (o *operator) addGenerations(mgr manager.Manager) error {
	opts := reconcile.GenerationOptions{Logger: mgr.GetLogger()}
	if o.Hasty {
		opts.Interval = reconcile.MinGenerationInterval
	}
	kinds := []reconcile.GenerationKind{{Object: &appsv1.Deployment{}, Namespace: o.Namespace}}
	generations, err := reconcile.NewGenerations(mgr, kinds, opts)
	if err != nil {
		return err
	}
	return errors.Join(mgr.Add(generations), o.registry.Register(generations))
}

// serve answers probes and scrapes until ctx ends, before there is a leader or a synced
// cache.
func (o *operator) serve(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.Handle("/healthz", http.StripPrefix("/healthz", &healthz.Handler{Checks: o.checks}))
	mux.Handle("/metrics", promhttp.HandlerFor(prometheus.Gatherers{o.registry, ctrlmetrics.Registry}, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError, ErrorLog: log.New(o, "", 0)}))
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", o.Address)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			_, _ = fmt.Fprint(o, err)
		}
	}()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	return nil
}
