// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// generationPage bounds what is held in full at a time: where objects have 20 KB, some
	// tens of MB decoded.
	generationPage = 250

	// generationWhole is how many objects of a kind are read in one piece at most, where
	// pages are not to be had: of 3 KB each, they take 150 MB.
	generationWhole = 5000

	// generationTimeout is for one request, so that one that hangs costs a minute, while a
	// read of many pages that moves is not cut. client-go retries within it.
	generationTimeout = time.Minute
)

// generationReader reads all objects of a kind, in two steps for each page: metadata
// only, and in full where an object of the page has a generation that is not known to be
// observed. Kinds in which nobody edits cost metadata only.
type generationReader struct {
	client client.Reader
	clock  clock.PassiveClock
	target generationTarget
	known  map[types.UID]int64 // from the read before
}

// read returns all objects, or an error and nothing.
//
// The rest of a list may be gone by the time it is asked for. Where it was compacted
// meanwhile (410), the answer has a token with which to go on: the list is then of two
// moments, and still has every object that was there in both. Where it is of a
// resourceVersion that a watch cache which does not get along will never reach (504;
// apiserver 0.37 reads the first page from the datastore then, but not the others), the
// kind is read in one piece, which is always answered as a whole.
func (r *generationReader) read(ctx context.Context) (generationReading, error) {
	out, err := r.readBy(ctx, generationPage)
	if err != nil && apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		out, err = r.readBy(ctx, 0)
	}
	return out, err
}

// readBy reads all objects, so many a page.
func (r *generationReader) readBy(ctx context.Context, limit int64) (generationReading, error) {
	out := generationReading{
		began: r.clock.Now(),
		known: make(map[types.UID]int64, len(r.known)), looked: map[types.UID]generationSighting{}, missed: map[types.UID]bool{},
	}
	for token := ""; ; {
		next, err := r.page(ctx, &out, limit, token)
		if again := continueAfter(err); again != "" {
			next, err = again, nil
		}
		switch {
		case err != nil:
			return generationReading{}, err
		case next == "":
			out.ended = r.clock.Now()
			return out, nil
		case next == token:
			return generationReading{}, errors.New("the list does not end: its next page is the last one again")
		}
		token = next
	}
}

// continueAfter returns the token that comes with an error because another has expired;
// "" where there is none.
func continueAfter(err error) string {
	var status apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) || !errors.As(err, &status) {
		return ""
	}
	return status.Status().Continue
}

// page adds a page to a reading, and returns the token of the next one.
func (r *generationReader) page(ctx context.Context, out *generationReading, limit int64, token string) (string, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(r.target.gvk.GroupVersion().WithKind(r.target.gvk.Kind + "List"))
	if err := r.list(ctx, list, limit, token); err != nil {
		return "", err
	}
	if limit == 0 && len(list.Items) > generationWhole {
		return "", fmt.Errorf("the watch cache of the API server does not get along, and %d objects are too many to be read in one piece (at most %d)", len(list.Items), generationWhole)
	}
	changed := map[types.UID]bool{}
	for i := range list.Items {
		o := &list.Items[i]
		if o.DeletionTimestamp != nil {
			continue // which has moved its generation, and controllers need not report that
		}
		if o.Generation == 0 {
			out.bare++
		}
		known := r.known[o.UID]
		out.known[o.UID] = known
		if o.Generation != known {
			changed[o.UID] = true
		}
	}
	if len(changed) == 0 {
		return list.Continue, nil
	}
	return list.Continue, r.look(ctx, out, changed, limit, token)
}

// look reads a page in full. A first page is read as it is by now, which may be other
// objects: what is missing is looked at by the next read.
func (r *generationReader) look(ctx context.Context, out *generationReading, changed map[types.UID]bool, limit int64, token string) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(r.target.gvk.GroupVersion().WithKind(r.target.gvk.Kind + "List"))
	if err := r.list(ctx, list, limit, token); err != nil {
		return err
	}
	for i := range list.Items {
		o := &list.Items[i]
		uid := o.GetUID()
		if !changed[uid] {
			continue
		}
		delete(changed, uid)
		if o.GetDeletionTimestamp() != nil || r.target.ignore != nil && r.target.ignore(o) {
			delete(out.known, uid)
			continue
		}
		out.looked[uid] = sightGeneration(o, r.target.condition)
	}
	for uid := range changed {
		out.missed[uid] = true
	}
	return nil
}

func (r *generationReader) list(ctx context.Context, list client.ObjectList, limit int64, token string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, generationTimeout, fmt.Errorf("no answer within %v: %w", generationTimeout, context.DeadlineExceeded))
	defer cancel()
	err := r.client.List(ctx, list, r.target.options(limit, token))
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	}
	return err
}
