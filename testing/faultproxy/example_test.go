// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// apiServer stands for a real API server, so that the example runs everywhere.
func apiServer() (*rest.Config, func()) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"ConfigMapList","apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`)
	}))
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}, server.Close
}

// A fault for the next request of one kind, and what getting over it has cost.
func Example() {
	cfg, stop := apiServer()
	defer stop()
	proxy, err := faultproxy.NewAPI(cfg, faultproxy.APIOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer proxy.Close()
	client, err := kubernetes.NewForConfig(proxy.Config(cfg)) // what the program under test is given
	if err != nil {
		fmt.Println(err)
		return
	}

	lists := faultproxy.Match{Verb: "list", Resource: "configmaps", Times: 1}
	forbidden := proxy.Inject(lists, faultproxy.Status{Code: http.StatusForbidden})
	for range 2 {
		_, err := client.CoreV1().ConfigMaps("default").List(context.Background(), metav1.ListOptions{})
		fmt.Println("forbidden:", apierrors.IsForbidden(err))
	}
	forbidden.Lift()

	for _, r := range proxy.Requests(faultproxy.Match{}) {
		fmt.Println(r.Verb, r.Resource, r.Status, r.Objects)
	}
	for _, e := range proxy.Record() {
		fmt.Println(e.Action, e.Target, "hits:", e.Hits)
	}
	// Output:
	// forbidden: true
	// forbidden: false
	// list configmaps 403 0
	// list configmaps 200 2
	// injected verb=list resource=configmaps times=1 hits: 0
	// lifted verb=list resource=configmaps times=1 hits: 1
}

// One dead watch stream, while all others live: client-go's own defaults do not notice for minutes.
func ExampleAPI_Inject() {
	cfg, stop := apiServer()
	defer stop()
	proxy, err := faultproxy.NewAPI(cfg, faultproxy.APIOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer proxy.Close()

	inj := proxy.Inject(
		faultproxy.Match{Verb: "watch", Group: "example.com", Resource: "widgets", UserAgent: "my-operator"},
		faultproxy.Silence{OnlyOpen: true})
	fmt.Println(inj)
	// Output: Silence{OnlyOpen:true} on verb=watch group=example.com resource=widgets userAgent=my-operator
}

// A proxy at every place where one fits: clients, api, wire, kube-apiserver, etcd proxy, etcd.
func ExampleNewEtcd() {
	var etcd *faultproxy.Etcd
	cp, err := controlplane.Start(context.Background(), controlplane.Options{
		Log: os.Stderr,
		WrapEtcd: func(_ context.Context, url string) (string, error) {
			var err error
			if etcd, err = faultproxy.NewEtcd(url, faultproxy.EtcdOptions{}); err != nil {
				return "", err
			}
			return etcd.URL(), nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { // in this order: the API server first
		_ = cp.Stop()
		_ = etcd.Close()
	}()
	wire, err := faultproxy.NewTCP(strings.TrimPrefix(cp.APIServerURL(), "https://"), faultproxy.TCPOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer wire.Close()
	api, err := faultproxy.NewAPI(cp.Config(), faultproxy.APIOptions{Via: wire.Addr()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer api.Close()

	// The API server's watch cache for ConfigMaps freezes; reads and writes work.
	frozen := etcd.FreezeWatches("/registry/configmaps/")
	frozen.Lift()
	// Every stream is dead, and the proxy in front answers PINGs as if nothing had happened.
	dead := wire.Blackhole(faultproxy.Blackhole{})
	dead.Lift()
}
