// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest_test

import (
	"testing"
	"testing/synctest"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

func TestTypedInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := freshtest.Start(t, freshtest.Options{})
		if err := srv.Create(configMap("a")); err != nil {
			t.Fatal(err)
		}
		client, err := kubernetes.NewForConfig(srv.Config())
		if err != nil {
			t.Fatal(err)
		}
		factory := informers.NewSharedInformerFactory(client, 0)
		informer := factory.Core().V1().ConfigMaps().Informer()
		stop := make(chan struct{})
		factory.Start(stop)
		defer factory.Shutdown()
		defer close(stop)
		freshtest.WaitForSync(t, informer.HasSynced)
		if err := srv.Create(configMap("b")); err != nil {
			t.Fatal(err)
		}
		freshtest.Eventually(t, func() bool { return len(informer.GetStore().List()) == 2 }, "the informer has not seen b")
	})
}
