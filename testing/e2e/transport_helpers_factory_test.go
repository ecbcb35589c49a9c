// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/transport"
)

// factoryKinds are those that startFactory makes informers of.
var factoryKinds = []schema.GroupVersionResource{
	configMaps.gvr(),
	{Version: "v1", Resource: "secrets"},
	{Version: "v1", Resource: "serviceaccounts"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
}

// startFactory runs informers as programs without a framework have them, and
// returns that of ConfigMaps.
func (w *twin) startFactory(t *testing.T) cache.SharedIndexInformer {
	t.Helper()
	factory := informers.NewSharedInformerFactoryWithOptions(w.typed(t), 0, informers.WithNamespace(w.server.ns))
	var synced []cache.InformerSynced
	for _, gvr := range factoryKinds {
		inf, err := factory.ForResource(gvr)
		if err != nil {
			t.Fatal(err)
		}
		synced = append(synced, inf.Informer().HasSynced)
	}
	untilEnd(t, func(ctx context.Context) {
		factory.StartWithContext(ctx)
		<-ctx.Done()
		factory.Shutdown()
	})
	if !poll.Until(t.Context(), patience, func() bool {
		return !slices.ContainsFunc(synced, func(s cache.InformerSynced) bool { return !s() })
	}) {
		t.Fatalf("%s: the factory's informers have not synced", w.agent)
	}
	return factory.Core().V1().ConfigMaps().Informer()
}

// typed returns one more client, with connections of its own, that speaks protobuf.
func (w *twin) typed(t *testing.T) kubernetes.Interface {
	t.Helper()
	cfg := rest.CopyConfig(w.config)
	cfg.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfigAndClient(cfg, httpClientFor(t, cfg))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// connections returns the connections, by their client's end, that the proxy sees
// the twin's watches on.
func (w *twin) connections() map[string]bool {
	out := map[string]bool{}
	for _, r := range w.server.api.Requests(faultproxy.Match{Verb: "watch", UserAgent: w.agent}) {
		if r.Open {
			out[r.Client] = true
		}
	}
	return out
}

// colorIn returns the color of the edited object in the cache of a factory's
// informer.
func colorIn(inf cache.SharedIndexInformer) string {
	for _, obj := range inf.GetStore().List() {
		if m := obj.(*corev1.ConfigMap); m.Name == edited {
			return m.Data["color"]
		}
	}
	return ""
}

// awaitStreams waits until each kind of the factory has a stream that is answered,
// and returns them. Where two clients have one, it is the newer.
func (tw *twins) awaitStreams(t *testing.T) map[schema.GroupVersionResource]transport.Stream {
	t.Helper()
	out := map[schema.GroupVersionResource]transport.Stream{}
	if !poll.Until(t.Context(), patience, func() bool {
		clear(out)
		for _, s := range tw.transport.Streams() {
			if s.Protocol != "" {
				out[s.GVR] = s
			}
		}
		return len(out) == len(factoryKinds)
	}) {
		t.Fatalf("the streams are %+v, want one of each of %v", out, factoryKinds)
	}
	return out
}

// checkDescribed compares what the streams say of themselves with what the proxies
// know.
func (tw *twins) checkDescribed(t *testing.T, streams map[schema.GroupVersionResource]transport.Stream) {
	t.Helper()
	var clients []string
	for _, c := range tw.tcp.Connections() {
		clients = append(clients, c.Client)
	}
	now := time.Now()
	for gvr, s := range streams {
		if s.Namespace != tw.ns || s.Protocol != "HTTP/2.0" || s.Timeout < transport.MinMaxWatch || s.Bytes == 0 {
			t.Errorf("%v: the stream is %+v, want the namespace %s, HTTP/2.0, a timeout, and bytes", gvr, s, tw.ns)
		}
		if s.Remote != tw.tcp.Addr() || !slices.Contains(clients, s.Local) {
			t.Errorf("%v: the stream is between %s and %s, want one of %v and %s", gvr, s.Local, s.Remote, clients, tw.tcp.Addr())
		}
		if s.Since.After(s.LastByte) || s.LastByte.After(now) || now.Sub(s.Since) > patience {
			t.Errorf("%v: the stream began at %v and last brought something at %v, want both before %v", gvr, s.Since, s.LastByte, now)
		}
	}
}
