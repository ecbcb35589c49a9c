// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch/watchcanary"
)

// replicaVariable is the environment variable that makes the test binary a replica of an
// operator. What it has to do is the first line of its standard input; it ends with
// that, or with SIGTERM, and tells on its standard output what happens.
const replicaVariable = "FRESHWATCH_CANARY_REPLICA"

// spec is what a replica has to do.
type spec struct {
	Kubeconfig, Namespace string
	Name                  string // identity and user agent of this process
	RenewDeadline         time.Duration
	WithoutCanary         bool
}

// replica is an operator's process.
type replica struct {
	spec
	out *reporter
}

// playReplica is the replica's main.
func playReplica(stdin io.Reader, stdout io.Writer) error {
	r := &replica{out: &reporter{enc: json.NewEncoder(stdout)}}
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

func (r *replica) run(ctx context.Context) error {
	mgr, err := r.manager()
	if err != nil {
		return err
	}
	see := func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		var cm corev1.ConfigMap
		if err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		if cm.Name == thing {
			r.out.send(report{Sees: cm.Data["color"]})
		}
		return reconcile.Result{}, nil
	}
	if err := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcile.Func(see)); err != nil {
		return err
	}
	var c *watchcanary.Canary
	if !r.WithoutCanary {
		if c, err = r.canary(mgr); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer func() { cancel(); wg.Wait() }()
	if err := r.serve(ctx, &wg, c); err != nil {
		return err
	}
	wg.Go(func() {
		select {
		case <-mgr.Elected():
			r.out.send(report{Leads: true})
		case <-ctx.Done():
		}
	})
	if c != nil {
		wg.Go(func() { r.sample(ctx, c) })
	}
	return mgr.Start(ctx)
}

func (r *replica) manager() (manager.Manager, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", r.Kubeconfig)
	if err != nil {
		return nil, err
	}
	cfg.UserAgent = r.Name
	// controller-runtime names the election's client after the program.
	forElection := rest.CopyConfig(cfg)
	forElection.Wrap(func(rt http.RoundTripper) http.RoundTripper { return named{rt, r.Name + electionSuffix} })
	leaseDuration := r.RenewDeadline + r.RenewDeadline/2
	return ctrl.NewManager(cfg, manager.Options{
		LeaderElection:                true,
		LeaderElectionID:              election,
		LeaderElectionNamespace:       r.Namespace,
		LeaderElectionConfig:          forElection,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &leaseDuration,
		RenewDeadline:                 &r.RenewDeadline,
		RetryPeriod:                   new(time.Second),
		GracefulShutdownTimeout:       new(5 * time.Second),
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{r.Namespace: {}}},
	})
}

// electionSuffix tells a process's leader election from its other requests.
const electionSuffix = "-election"

// named gives requests a user agent.
type named struct {
	http.RoundTripper
	agent string
}

func (n named) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", n.agent)
	return n.RoundTripper.RoundTrip(r)
}

func (r *replica) canary(mgr manager.Manager) (*watchcanary.Canary, error) {
	c, err := watchcanary.New(mgr, watchcanary.Options{
		Namespace: r.Namespace,
		Identity:  r.Name,
		Interval:  interval,
		FailAfter: failAfter,
		Logger:    funcr.New(func(_, args string) { r.out.send(report{Log: args}) }, funcr.Options{}),
	})
	if err != nil {
		return nil, err
	}
	return c, mgr.Add(c)
}

// sample looks at the canary every 100 ms, and tells of each change, and now and then
// how often it has looked.
func (r *replica) sample(ctx context.Context, c *watchcanary.Canary) {
	var last reading
	for n := 1; ; n++ {
		now := readingOf(c)
		if now != last || n%100 == 0 {
			r.out.send(report{Reading: &now, Samples: n})
			last = now
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// reporter writes reports, a line each.
type reporter struct {
	mu  sync.Mutex
	enc *json.Encoder
}

// send drops what nobody reads any more.
func (o *reporter) send(rep report) {
	o.mu.Lock()
	defer o.mu.Unlock()
	rep.At = time.Now()
	_ = o.enc.Encode(rep)
}
