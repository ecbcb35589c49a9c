// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// crowd is so many objects of one kind in one namespace that it matters whether
// they are sent again.
type crowd struct {
	plane *plane
	kind  kind
	ns    string
}

func newCrowd(t *testing.T, p *plane) *crowd {
	t.Helper()
	c := &crowd{plane: p, kind: custom("Crowd"), ns: p.namespace(t, "crowd")}
	p.serve(t, c.kind)
	client := p.dynamic.Resource(c.kind.gvr()).Namespace(c.ns)
	var group errgroup.Group
	group.SetLimit(8) // other tests need the API server, too
	for i := range crowdSize {
		group.Go(func() error {
			_, err := client.Create(t.Context(), c.kind.object(c.ns, fmt.Sprintf("one-of-many-%d", i), before), metav1.CreateOptions{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	return c
}

// edits makes one more object that nobody else edits.
func (c *crowd) edits(t *testing.T) []*edits {
	t.Helper()
	return []*edits{newEdits(t, c.plane, c.kind, c.ns, word(t.Name()))}
}
