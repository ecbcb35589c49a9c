// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// client is a clientset with connections of its own, so that tests do not share any.
type client struct {
	kubernetes.Interface
	http *http.Client
	cfg  *rest.Config
}

func newClient(t *testing.T, cfg *rest.Config) *client {
	t.Helper()
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1
	cfg.Dial = new(net.Dialer).DialContext // a dialer of its own keeps client-go from sharing transports
	hc, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hc.CloseIdleConnections)
	cs, err := kubernetes.NewForConfigAndClient(cfg, hc)
	if err != nil {
		t.Fatal(err)
	}
	return &client{Interface: cs, http: hc, cfg: cfg}
}

// watched is what a client has seen of a watch.
type watched struct {
	watch.Interface
}

func (c *client) watch(t *testing.T, opts metav1.ListOptions) *watched {
	t.Helper()
	return c.watchIn(t, metav1.NamespaceAll, opts)
}

func (c *client) watchIn(t *testing.T, namespace string, opts metav1.ListOptions) *watched {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	w, err := c.CoreV1().ConfigMaps(namespace).Watch(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return &watched{w}
}

// next returns the next event.
func (w *watched) next(t *testing.T) watch.Event {
	t.Helper()
	select {
	case e, ok := <-w.ResultChan():
		if !ok {
			t.Fatal("the watch has ended")
		}
		return e
	case <-patient(t).Done():
		t.Fatal("no event")
		return watch.Event{}
	}
}

// rv returns the next event's type and resourceVersion, as in "MODIFIED 7".
func (w *watched) rv(t *testing.T) string {
	t.Helper()
	e := w.next(t)
	return string(e.Type) + " " + e.Object.(*corev1.ConfigMap).ResourceVersion
}

// quiet fails if anything happens to the watch.
func (w *watched) quiet(t *testing.T) {
	t.Helper()
	select {
	case e, ok := <-w.ResultChan():
		t.Fatalf("event %v (open: %v), want nothing", e, ok)
	case <-time.After(glance):
	}
}

// ended waits for the end of the watch.
func (w *watched) ended(t *testing.T) {
	t.Helper()
	select {
	case e, ok := <-w.ResultChan():
		if ok {
			t.Fatalf("event %v, want the end", e)
		}
	case <-patient(t).Done():
		t.Fatal("the watch has not ended")
	}
}

// statusCode returns the HTTP status that an API error carries, 0 if it is none.
func statusCode(err error) int {
	var s apierrors.APIStatus
	if !errors.As(err, &s) {
		return 0
	}
	return int(s.Status().Code)
}
