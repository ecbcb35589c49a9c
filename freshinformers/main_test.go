// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshinformers_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	freshtest.PrepareBubbles()
	goleak.VerifyTestMain(m)
}

var (
	configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	secrets    = corev1.SchemeGroupVersion.WithResource("secrets")
)

func configMap(namespace, name, color string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"color": color}},
		Data:       map[string]string{"color": color},
	}
}

// fixture is a program under guard, at a server in this process, in a bubble.
type fixture struct {
	*testing.T
	srv     *freshtest.Server
	monitor *freshness.Monitor

	typed    kubernetes.Interface
	dynamic  dynamic.Interface
	metadata metadata.Interface

	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, srv: freshtest.Start(t, freshtest.Options{})}
	f.ctx, f.stop = context.WithCancel(t.Context())
	t.Cleanup(func() { f.stop(); f.wg.Wait() })
	cfg := f.srv.Config()
	client, err := rest.HTTPClientFor(cfg)
	f.must(err)
	f.typed, err = kubernetes.NewForConfigAndClient(cfg, client)
	f.must(err)
	f.dynamic, err = dynamic.NewForConfigAndClient(cfg, client)
	f.must(err)
	f.metadata, err = metadata.NewForConfigAndClient(cfg, client)
	f.must(err)
	f.monitor, err = freshness.New(freshness.Options{})
	f.must(err)
	f.wg.Go(func() {
		if err := f.monitor.Start(f.ctx); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// busyElsewhere writes other kinds, as every cluster's leases do.
func (f *fixture) busyElsewhere() {
	f.wg.Go(func() {
		ticker := time.NewTicker(7 * time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				f.srv.Bump(3)
			case <-f.ctx.Done():
				return
			}
		}
	})
}

// statuses returns what is monitored, as "name: verdict".
func (f *fixture) statuses() string {
	var out []string
	for _, st := range f.monitor.Status() {
		out = append(out, fmt.Sprintf("%v: %v", st.Informer, st.Verdict))
	}
	return strings.Join(out, ", ")
}

// waitForStatuses waits until statuses returns want.
func (f *fixture) waitForStatuses(limit time.Duration, want string) {
	f.Helper()
	f.waitFor(limit, want, func() bool { return f.statuses() == want })
}

// series counts the monitor's metrics.
func (f *fixture) series() int {
	f.Helper()
	registry := prometheus.NewRegistry()
	f.must(registry.Register(f.monitor))
	families, err := registry.Gather()
	f.must(err)
	return len(families)
}
