// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// scripted is a server with a lease in each of the usual namespaces, and a
// ConfigMap.
type scripted struct {
	*freshtest.Server
	t      *testing.T
	frozen *[]*freshtest.Fault
}

func newScripted(t *testing.T, options freshtest.Options) scripted {
	t.Helper()
	options.Kinds = append(options.Kinds,
		freshtest.Kind{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice", Resource: "endpointslices", Namespaced: true},
		freshtest.Kind{Group: "example.com", Version: "v1", Kind: "Site", Resource: "sites"})
	s := scripted{Server: freshtest.Start(t, options), t: t, frozen: new([]*freshtest.Fault)}
	s.create(lease("kube-system", "scheduler"), lease("kube-node-lease", "node"), settings())
	s.catchUp()
	return s
}

// catchUp lets every watch cache get to where the datastore is, as it does in a
// cluster by the reads of others.
func (s scripted) catchUp() {
	s.t.Helper()
	s.probe("-resource", "configmaps,leases,namespaces,sites")
}

func (s scripted) create(objects ...runtime.Object) {
	s.t.Helper()
	for _, obj := range objects {
		if err := s.Create(obj); err != nil {
			s.t.Fatal(err)
		}
	}
}

// touch changes an object.
func (s scripted) touch(obj metav1.Object) {
	s.t.Helper()
	obj.SetResourceVersion("")
	obj.SetAnnotations(map[string]string{"touched": time.Now().Format(time.RFC3339Nano)})
	if err := s.Update(obj.(runtime.Object)); err != nil {
		s.t.Error(err)
	}
}

// keepTouching changes an object now and every 2 s until the test ends.
func (s scripted) keepTouching(obj metav1.Object) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.touch(obj)
	s.t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		for wait(ctx, 2*time.Second) == nil {
			s.touch(obj)
		}
	}()
}

// freezeLeases freezes their watch cache while they change.
func (s scripted) freezeLeases() {
	*s.frozen = append(*s.frozen, s.FreezeWatchCache(leases().resource))
	s.keepTouching(lease("kube-system", "scheduler"))
}

// thaw ends that.
func (s scripted) thaw() {
	for _, f := range *s.frozen {
		f.Lift()
	}
}

// stamp notes in the lock file when the command was run last.
func (s scripted) stamp(lock string, at time.Time) {
	s.t.Helper()
	if err := os.WriteFile(lock, []byte(at.UTC().Format(stamp)), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// probe runs the command's check with these flags, its random numbers in the middle.
func (s scripted) probe(args ...string) (rep report, said string) {
	s.t.Helper()
	return probe(s.t, s.Config(), args...)
}

func probe(t *testing.T, cfg *rest.Config, args ...string) (rep report, said string) {
	t.Helper()
	opts, err := parseFlags(args)
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	w := &watchman{opts: opts, stderr: &stderr, random: func() float64 { return 0.5 }}
	if rep, err = w.inspect(t.Context(), cfg); err != nil {
		return report{Verdict: classify(err)}, err.Error()
	}
	return rep, stderr.String()
}

func lease(namespace, name string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func settings() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"}}
}

// apiServers is the EndpointSlice that names them.
func apiServers(addresses ...string) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes"},
		Ports:      []discoveryv1.EndpointPort{{Name: new("https"), Port: new(int32(6443))}},
		Endpoints:  []discoveryv1.Endpoint{{Addresses: addresses}},
	}
}

// spread returns a config that leads each address to a server of its own.
func spread(usual scripted, others map[string]scripted) *rest.Config {
	cfg := usual.Config()
	dial := map[string]func(context.Context, string, string) (net.Conn, error){}
	for address, srv := range others {
		dial[address] = srv.Config().Dial
		cfg.CAData = append(cfg.CAData, srv.Config().CAData...)
	}
	fallback := cfg.Dial
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if d, ok := dial[address]; ok {
			return d(ctx, network, address)
		}
		return fallback(ctx, network, address)
	}
	return cfg
}

func wantVerdict(t *testing.T, rep report, said string, want verdict, reason string) {
	t.Helper()
	var reasons []string
	for _, c := range rep.Checks {
		reasons = append(reasons, c.Reason)
	}
	if text := strings.Join(reasons, "; "); rep.Verdict != want || !strings.Contains(text+said, reason) {
		t.Errorf("%s because %q (%s), want %s and something with %q", rep.Verdict, text, said, want, reason)
	}
}
