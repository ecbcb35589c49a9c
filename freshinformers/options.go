// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshinformers

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Options configures a Factory. The zero value is ready for use: all namespaces,
// everything in them, as it comes.
type Options struct {
	// Namespace is the one to watch.
	//
	// Defaults to all.
	Namespace string

	// Resync is how often handlers are told of every object again, from the cache;
	// that has nothing to do with freshness.
	//
	// Defaults to never. Negative is an error.
	Resync time.Duration

	// Tweak, if set, changes the options of every list and watch: label and field
	// selectors, mostly.
	Tweak func(*metav1.ListOptions)

	// Transform, if set, is called for each object before it is stored. It must keep
	// the metadata.
	Transform cache.TransformFunc
}

func (o Options) validate() error {
	if o.Resync < 0 {
		return fmt.Errorf("freshinformers: Options.Resync is %v, but must not be negative", o.Resync)
	}
	return nil
}

var (
	errNoMonitor = errors.New("freshinformers: a factory wants a monitor, got nil")
	errNoClient  = errors.New("freshinformers: a factory wants a client, got nil")
)
