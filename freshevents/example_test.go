// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshevents"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/watchcanary"
)

var (
	_ manager.Runnable               = (*freshevents.Events)(nil)
	_ manager.LeaderElectionRunnable = (*freshevents.Events)(nil)
)

// The recorder is made first, since what the manager's client is made from has to know it.
func newRecorder(events *atomic.Pointer[freshevents.Events]) (*flightrecorder.Recorder, error) {
	return flightrecorder.New(flightrecorder.Options{
		OnIncident: func(i flightrecorder.Incident) { events.Load().ObserveIncident(i) },
	})
}

// With controller-runtime: what is wrong with a pod's informers is in kubectl describe pod.
func addEvents(mgr ctrl.Manager, canary *watchcanary.Canary, events *atomic.Pointer[freshevents.Events]) error {
	e, err := freshevents.New(mgr, freshevents.Options{Canary: canary.Status})
	if err != nil {
		return err
	}
	events.Store(e)
	if err := mgr.Add(e); err != nil {
		return err
	}
	return metrics.Registry.Register(e) // controller-runtime/pkg/metrics
}

var _, _ = newRecorder, addEvents // have to compile

// Two informers stall, and the program ends: what it had to say is one Event.
func Example() {
	server, err := freshtest.NewServer(freshtest.Options{})
	if err != nil {
		panic(err)
	}
	defer server.Close()
	cfg := server.Config()
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		panic(err)
	}
	defer client.CloseIdleConnections()
	events, err := freshevents.New(watchcanary.Client{Config: cfg, HTTP: client}, freshevents.Options{
		Object: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "operators", Name: "operator-1", UID: "4f2c"}, // in a pod: found
	})
	if err != nil {
		panic(err)
	}
	for _, resource := range []string{"configmaps", "secrets"} { // a flight recorder does this
		events.ObserveIncident(flightrecorder.Incident{
			Informer: freshness.Informer{Version: "v1", Resource: resource}, Began: time.Now(), Verdict: freshness.Stalled,
			Diagnosis: "The watch of " + resource + "/v1 fell silent while 3 of 3 other watches on its connection went on.",
			Evidence:  flightrecorder.Evidence{Informers: flightrecorder.Share{Some: 1, Of: 14}},
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := events.Start(ctx); err != nil {
		panic(err)
	}

	clientset, err := kubernetes.NewForConfig(server.Config())
	if err != nil {
		panic(err)
	}
	list, err := clientset.CoreV1().Events("operators").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		panic(err)
	}
	for _, e := range list.Items {
		fmt.Println(e.Type, e.Reason, e.InvolvedObject.Kind, e.InvolvedObject.Name)
		fmt.Println(e.Message)
	}
	// Output:
	// Warning InformerStalled Pod operator-1
	// 2 of 14 informers (configmaps/v1, secrets/v1). The last: The watch of secrets/v1 fell silent while 3 of 3 other watches on its connection went on.
}
