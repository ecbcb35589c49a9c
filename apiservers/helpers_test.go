// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/apiservers"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

const (
	one = "10.0.0.1:6443"
	two = "10.0.0.2:6443"
)

var (
	configMaps     = corev1.SchemeGroupVersion.WithResource("configmaps")
	namespaces     = corev1.SchemeGroupVersion.WithResource("namespaces")
	endpointSlices = discoveryv1.SchemeGroupVersion.WithResource("endpointslices")
)

// dialer leads each address to a server of its own.
type dialer struct {
	fallback func(ctx context.Context, network, address string) (net.Conn, error)

	mu     sync.Mutex
	routes map[string]func(ctx context.Context, network, address string) (net.Conn, error)
	open   int
	most   int // at once
}

func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	dial, ok := d.routes[address]
	if !ok {
		dial = d.fallback
	}
	d.open++
	d.most = max(d.most, d.open)
	d.mu.Unlock()
	conn, err := dial(ctx, network, address)
	if err != nil {
		d.closed()
		return nil, err
	}
	return &countedConn{Conn: conn, closed: sync.OnceFunc(d.closed)}, nil
}

func (d *dialer) closed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open--
}

// connections returns how many are open or being made, and the most there have been.
func (d *dialer) connections() (open, most int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open, d.most
}

type countedConn struct {
	net.Conn
	closed func()
}

func (c *countedConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

// silent accepts a connection, and never says anything.
func silent(context.Context, string, string) (net.Conn, error) {
	client, _ := net.Pipe()
	return client, nil
}

// cluster is a usual address and two API servers behind it.
type cluster struct {
	usual, one, two *freshtest.Server
	dialer          *dialer
	cfg             *rest.Config
}

func newCluster(t testing.TB, options freshtest.Options) cluster {
	t.Helper()
	c, err := startCluster(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c
}

func (c cluster) close() {
	for _, s := range c.servers() {
		s.Close()
	}
}

func (c cluster) servers() []*freshtest.Server { return []*freshtest.Server{c.usual, c.one, c.two} }

func startCluster(options freshtest.Options) (c cluster, err error) {
	options.Kinds = []freshtest.Kind{
		{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice", Resource: "endpointslices", Namespaced: true},
	}
	for _, s := range []**freshtest.Server{&c.usual, &c.one, &c.two} {
		if *s, err = freshtest.NewServer(options); err != nil {
			return c, err
		}
	}
	c.cfg = c.usual.Config()
	c.cfg.CAData = slices.Concat(c.cfg.CAData, c.one.Config().CAData, c.two.Config().CAData)
	c.dialer = &dialer{fallback: c.cfg.Dial}
	c.dialer.routes = map[string]func(context.Context, string, string) (net.Conn, error){
		one: c.one.Config().Dial, two: c.two.Config().Dial,
	}
	c.cfg.Dial = c.dialer.DialContext
	return c, nil
}

// name enters addresses in the EndpointSlice, with the port 6443.
func (c cluster) name(t testing.TB, addresses ...string) {
	t.Helper()
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes"},
		Ports:      []discoveryv1.EndpointPort{{Name: new("https"), Port: new(int32(6443))}},
	}
	for _, address := range addresses {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{address}})
	}
	err := c.usual.Create(slice)
	if err != nil {
		err = c.usual.Update(slice)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// write changes a ConfigMap of every server: they share no datastore.
func (c cluster) write(n int) error {
	for _, s := range c.servers() {
		cm := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"},
			Data:       map[string]string{"n": fmt.Sprint(n)},
		}
		err := s.Update(cm)
		if err != nil {
			err = s.Create(cm)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func newServers(t testing.TB, cfg *rest.Config, opts apiservers.Options) *apiservers.Servers {
	t.Helper()
	s, err := apiservers.New(cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask returns the answers for ConfigMaps in all namespaces.
func ask(t testing.TB, s *apiservers.Servers) []freshness.ServerCache {
	t.Helper()
	caches, err := s.WatchCaches(t.Context(), configMaps, "")
	if err != nil {
		t.Fatal(err)
	}
	return caches
}

// where is what a server answers.
func where(address string, rv uint64) freshness.ServerCache {
	return freshness.ServerCache{Server: address, ResourceVersion: strconv.FormatUint(rv, 10)}
}

// names returns who was asked.
func names(caches []freshness.ServerCache) []string {
	var all []string
	for _, c := range caches {
		all = append(all, c.Server)
	}
	return all
}
