// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// author edits the objects of one kind at random moments, and keeps the ledger. It
// reaches the API server directly: the faults are not its own.
type author struct {
	*ledger
	kind   kind
	ns     string
	client dynamic.ResourceInterface
	random *rand.Rand
	every  time.Duration // on average

	written, failed atomic.Int64
	names           []string
	count           int
}

// population of a kind that an author keeps up.
const (
	fewestObjects = 4
	mostObjects   = 12
	// writePatience bounds one write. A datastore that is paused takes its time.
	writePatience = 30 * time.Second
)

func (a *author) run(ctx context.Context) {
	for sleepUntil(ctx, time.Now().Add(time.Duration(a.random.ExpFloat64()*float64(a.every)))) {
		if err := a.edit(ctx); err != nil {
			a.failed.Add(1) // and nobody knows what became of it: it is not in the ledger
			continue
		}
		a.written.Add(1)
	}
}

// edit creates, changes or deletes an object.
func (a *author) edit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	a.count++
	dice := a.random.IntN(10)
	switch {
	case len(a.names) < fewestObjects || dice == 0 && len(a.names) < mostObjects:
		return a.create(ctx, fmt.Sprintf("object-%d", a.count))
	case dice <= 1 && len(a.names) > fewestObjects:
		i := a.random.IntN(len(a.names))
		name := a.names[i]
		a.names = append(a.names[:i], a.names[i+1:]...)
		return a.remove(ctx, name)
	default:
		return a.change(ctx, a.names[a.random.IntN(len(a.names))])
	}
}

func (a *author) create(ctx context.Context, name string) error {
	err := a.note(name, func() (*unstructured.Unstructured, error) {
		return a.client.Create(ctx, a.kind.object(a.ns, name, "0"), metav1.CreateOptions{})
	})
	if err == nil {
		a.names = append(a.names, name)
	}
	return err
}

func (a *author) change(ctx context.Context, name string) error {
	patch := fmt.Appendf(nil, `{"data":{"color":"%d"}}`, a.count)
	return a.note(name, func() (*unstructured.Unstructured, error) {
		return a.client.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	})
}

func (a *author) remove(ctx context.Context, name string) error {
	a.leave(a.key(name))
	return a.note(name, func() (*unstructured.Unstructured, error) {
		return nil, a.client.Delete(ctx, name, metav1.DeleteOptions{})
	})
}

// note makes a write and enters it, if it is known to be committed.
func (a *author) note(name string, write func() (*unstructured.Unstructured, error)) error {
	c := change{key: a.key(name), before: time.Now()}
	obj, err := write()
	c.after = time.Now()
	if err != nil {
		return err
	}
	if obj != nil {
		c.rv = resourceVersion(obj)
	}
	a.add(c)
	return nil
}

func (a *author) key(name string) string { return cache.NewObjectName(a.ns, name).String() }
