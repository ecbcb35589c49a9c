// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers

import (
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/go-logr/logr"
)

const (
	// DefaultRefresh is far below the time in which control planes are replaced, and
	// far above that between two questions about one incident.
	DefaultRefresh = 5 * time.Minute
	// DefaultTimeout is three times what a kube-apiserver takes whose watch cache is
	// frozen (3 s in 1.37).
	DefaultTimeout = 10 * time.Second

	// concurrentReads bounds what one Servers has under way, whoever asks: kinds
	// tend to be in doubt together.
	concurrentReads = 10
)

// Options configures Servers. The zero value is ready for use.
type Options struct {
	// Addresses are the API servers, each as host:port.
	//
	// Defaults to those that EndpointSlice default/kubernetes names (see Find), which
	// takes a right. Set them where that names a load balancer, or nothing.
	Addresses []string

	// Refresh is how long addresses that were found are used before they are read
	// again, by the next question. If that fails, the old ones stay in use for as
	// long again.
	//
	// Defaults to 5m. At least 1s. Without effect on Addresses.
	Refresh time.Duration

	// Timeout bounds what one server is asked, and the connection that it is asked
	// over.
	//
	// Defaults to 10s. At least 4s, since a server with a frozen watch cache answers
	// after 3s.
	Timeout time.Duration

	// Logger gets one line when other API servers are found than before, and one
	// when they can no longer be read.
	//
	// Defaults to the logger in the context of the question, and to klog's where it
	// has none.
	Logger logr.Logger
}

// withDefaults returns o completed and checked.
func (o Options) withDefaults() (Options, error) {
	if o.Refresh == 0 {
		o.Refresh = DefaultRefresh
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	for _, c := range []struct {
		name     string
		got, min time.Duration
		why      string
	}{
		{"Refresh", o.Refresh, time.Second, "the addresses are read from the datastore each time"},
		{"Timeout", o.Timeout, 4 * time.Second, "a server with a frozen watch cache answers after 3s"},
	} {
		if c.got < c.min {
			return o, fmt.Errorf("apiservers: Options.%s is %v, but must be at least %v (%s)", c.name, c.got, c.min, c.why)
		}
	}
	o.Addresses = slices.Clone(o.Addresses)
	for _, address := range o.Addresses {
		if err := checkAddress(address); err != nil {
			return o, fmt.Errorf("apiservers: Options.Addresses: %w", err)
		}
	}
	return o, nil
}

func checkAddress(address string) error {
	if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" {
		return fmt.Errorf("%q must be host:port, such as 10.0.0.7:6443 or [fd00::7]:6443", address)
	}
	return nil
}
