// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/freshwatch/freshwatch/debugpage"
	"github.com/freshwatch/freshwatch/flightrecorder"
)

// withPage serves it beside the metrics, behind their filter: with kubebuilder's scaffold
// that is filters.WithAuthenticationAndAuthorization.
func withPage(cfg *rest.Config, recorder *flightrecorder.Recorder, filter func(*rest.Config, *http.Client) (metricsserver.Filter, error)) (ctrl.Manager, error) {
	page, err := debugpage.New(debugpage.Options{Recorder: recorder})
	if err != nil {
		return nil, err
	}
	return ctrl.NewManager(cfg, ctrl.Options{Metrics: metricsserver.Options{
		BindAddress: ":8443", SecureServing: true,
		FilterProvider: filter,
		ExtraHandlers:  map[string]http.Handler{"/debug/freshwatch": page},
	}})
}

// With any server: the page is a handler, and the same as JSON for whoever asks for that.
func Example() {
	recorder, err := flightrecorder.New(flightrecorder.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	page, err := debugpage.New(debugpage.Options{Recorder: recorder})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/freshwatch", page)

	for _, accept := range []string{"text/html", "application/json"} {
		request := httptest.NewRequest(http.MethodGet, "/debug/freshwatch", nil)
		request.Header.Set("Accept", accept)
		response := httptest.NewRecorder()
		mux.ServeHTTP(response, request)
		fmt.Println(response.Code, response.Header().Get("Content-Type"))
	}
	_ = withPage

	// Output:
	// 200 text/html; charset=utf-8
	// 200 application/json
}
