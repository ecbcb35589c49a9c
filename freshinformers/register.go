// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshinformers

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
)

// ErrTooLate is matched by the error of Register where the factory has made its
// own informer already.
var ErrTooLate = errors.New("freshinformers: the factory has an informer of this type already")

// generated is a factory from informer-gen. F is its NewInformerFunc, which names
// its clientset.
type generated[F any] interface {
	InformerFor(obj runtime.Object, newInformer F) cache.SharedIndexInformer
}

// Register makes the factory's informer of obj's type a monitored one, and returns
// it. From then on the factory hands it out wherever it is asked for that kind, by
// its typed methods and by ForResource, and starts and stops it with the others. The
// factory's resync periods and its transform apply; its namespace and its list
// options do not, and are for lw to repeat. Like the factory's own it has an index
// of namespaces; others can be added. Its name for client-go's informer metrics
// (WithInformerName) it does not have.
//
// obj is a pointer to the Go type, as in the generated code: &corev1.ConfigMap{}; lw
// has to be of the same kind, which nothing checks.
// The type parameters follow from the factory.
//
// The error matches ErrTooLate if the factory has made its own informer of that
// type: Register before anything asks for it.
func Register[C any, F ~func(C, time.Duration) cache.SharedIndexInformer](
	m *freshness.Monitor, factory generated[F], obj runtime.Object, lw cache.ListerWatcher,
) (cache.SharedIndexInformer, error) {
	switch {
	case m == nil:
		return nil, errors.New("freshinformers: Register wants a monitor, got nil")
	case factory == nil:
		return nil, errors.New("freshinformers: Register wants a factory, got nil")
	case obj == nil:
		return nil, errors.New("freshinformers: Register wants an object of the kind, got nil")
	case lw == nil:
		return nil, errors.New("freshinformers: Register wants a ListerWatcher, got nil")
	}
	taken := false
	inf := factory.InformerFor(obj, func(_ C, resync time.Duration) cache.SharedIndexInformer {
		taken = true
		return m.NewInformer(lw, obj, resync, byNamespace())
	})
	if !taken {
		return nil, fmt.Errorf("%w: %T", ErrTooLate, obj)
	}
	return inf, nil
}

// byNamespace is the index that listers look objects of one namespace up in.
// Without it they walk over all, and log that.
func byNamespace() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}
