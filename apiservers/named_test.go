// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	discoveryv1 "k8s.io/api/discovery/v1"
)

func TestNamed(t *testing.T) {
	port := func(name string, number int32) discoveryv1.EndpointPort {
		return discoveryv1.EndpointPort{Name: &name, Port: &number}
	}
	servers := []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.2"}}, {Addresses: []string{"10.0.0.1"}}}
	for _, test := range []struct {
		name  string
		slice discoveryv1.EndpointSlice
		want  []string
	}{
		{"nothing", discoveryv1.EndpointSlice{}, nil},
		{"nobody", discoveryv1.EndpointSlice{Ports: []discoveryv1.EndpointPort{port("https", 6443)}}, nil},
		{"no port", discoveryv1.EndpointSlice{Endpoints: servers}, nil},
		{"any port", discoveryv1.EndpointSlice{Endpoints: servers, Ports: []discoveryv1.EndpointPort{{}}}, nil},
		{"two servers", discoveryv1.EndpointSlice{Endpoints: servers, Ports: []discoveryv1.EndpointPort{port("https", 6443)}},
			[]string{"10.0.0.1:6443", "10.0.0.2:6443"}},
		{"a port without a name", discoveryv1.EndpointSlice{Endpoints: servers[:1], Ports: []discoveryv1.EndpointPort{port("", 443)}}, []string{"10.0.0.2:443"}},
		{"a tunnel beside the API", discoveryv1.EndpointSlice{
			Endpoints: servers[:1], Ports: []discoveryv1.EndpointPort{port("konnectivity", 8132), port("https", 6443)},
		}, []string{"10.0.0.2:6443"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, named(test.slice)); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
		})
	}
}
