// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// A proxy that answers PINGs while the way to the API server is dead: an API proxy before a TCP proxy. Neither the stream
// nor PING nor a new connection says that anything is wrong, only that nothing comes.
func TestProxyAnswersPingsWhileUpstreamIsDead(t *testing.T) {
	f := newFakeAPI(t)
	behind := newTCP(t, f.Listener.Addr().String(), faultproxy.TCPOptions{})
	front := newAPI(t, f.config(), faultproxy.APIOptions{Via: behind.Addr()})
	c := newClient(t, front.Config(f.config()))
	w := c.watch(t, metav1.ListOptions{})
	s := f.next(t)
	s.send(t, modified("a", "1"))
	w.next(t)

	hole := behind.Blackhole(faultproxy.Blackhole{Existing: true})
	go func() { // the server may or may not get rid of it: the kernel has buffers
		select {
		case s.events <- modified("a", "2"):
		case <-s.gone:
		}
	}()
	w.quiet(t)
	fresh := dialWire(t, front)
	fresh.ping(t)
	fresh.until(t, http2.FramePing)
	fresh.get(t, "/api/v1/configmaps?watch=1") // over a new connection to the proxy, and the old one to the server
	fresh.ping(t)
	for _, seen := range fresh.until(t, http2.FramePing) {
		if seen == http2.FrameHeaders {
			t.Error("the new connection got an answer")
		}
	}
	hole.Lift()
	if got := w.rv(t); got != "MODIFIED 2" {
		t.Errorf("after the lift: %s", got)
	}
	fresh.until(t, http2.FrameHeaders)
}

// A load balancer that forgets idle connections, in front of the API server: TLS goes through it end to end.
func TestIdleStreamBehindALoadBalancer(t *testing.T) {
	f := newFakeAPI(t)
	lb := newTCP(t, f.Listener.Addr().String(), faultproxy.TCPOptions{})
	cfg := rest.CopyConfig(f.config())
	cfg.Host = (&url.URL{Scheme: "https", Host: lb.Addr()}).String()
	w := newClient(t, cfg).watch(t, metav1.ListOptions{})
	s := f.next(t)
	s.send(t, modified("a", "1"))
	w.next(t)
	inj := lb.IdleDrop(30 * time.Millisecond)
	eventually(t, "the connection to be forgotten", func() bool { return lb.Connections()[0].Dead })
	s.send(t, modified("a", "2"))
	w.quiet(t)
	if inj.Hits() != 1 {
		t.Errorf("%d hits, want 1", inj.Hits())
	}
	inj.Lift() // or a slow machine would lose the next one, too
	fresh := newClient(t, cfg).watch(t, metav1.ListOptions{})
	f.next(t).send(t, modified("a", "3"))
	if got := fresh.rv(t); got != "MODIFIED 3" {
		t.Errorf("over a new connection: %s", got)
	}
}

// A client that does not read one of its streams stops that stream, and no other on the same connections.
func TestSlowReaderBlocksOnlyItself(t *testing.T) {
	f := newFakeAPI(t)
	p := newAPI(t, f.config(), faultproxy.APIOptions{})
	c := newClient(t, p.Config(f.config()))
	slow, err := c.CoreV1().RESTClient().Get().Resource("configmaps").Param("watch", "1").Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	unread := f.next(t)
	quick := c.watch(t, metav1.ListOptions{})
	s := f.next(t)

	big := configMap("big", "1")
	big.Data["x"] = strings.Repeat("x", 1<<20)
	stuck := make(chan struct{})
	go func() { // until the windows and buffers on the way are full
		defer close(stuck)
		for {
			select {
			case unread.events <- watch.Event{Type: watch.Modified, Object: big}:
			case <-unread.gone:
				return
			}
		}
	}()
	slowWatch := faultproxy.Match{Verb: "watch"}
	moved := func() int64 { return p.Requests(slowWatch)[0].BytesDown }
	before := int64(-1)
	eventually(t, "the slow stream to be stuck", func() bool {
		elapse(glance)
		now := moved()
		was := before
		before = now
		return now > 0 && now == was
	})
	for range 10 {
		s.send(t, modified("a", "2"))
		if got := quick.rv(t); got != "MODIFIED 2" {
			t.Fatalf("the other stream got %s", got)
		}
	}
	_ = slow.Close()
	<-stuck
}
