// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/transport"
)

// A copy of the config with a Dial of its own makes connections that nobody knows
// the age of: its dead token ends the process all the same.
func TestDialReplacedOnACopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := freshtest.Start(t, freshtest.Options{})
		cfg := srv.Config()
		dial := cfg.Dial
		exited := make(chan int, 1)
		if _, err := transport.Wrap(cfg, transport.Options{ExitOnUnauthorized: &transport.ExitOptions{Exit: func(code int) { exited <- code }}}); err != nil {
			t.Fatal(err)
		}
		copied := rest.CopyConfig(cfg)
		copied.Dial = dial
		client, err := kubernetes.NewForConfig(copied)
		if err != nil {
			t.Fatal(err)
		}
		srv.Respond(schema.GroupVersionResource{}, "", http.StatusUnauthorized, 0)
		for range 120 {
			if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{}); err == nil {
				t.Fatal("no 401")
			}
			time.Sleep(time.Second)
		}
		if len(exited) != 1 {
			t.Error("no exit after two minutes of 401s")
		}
	})
}
