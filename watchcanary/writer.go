// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/freshwatch/freshwatch/internal/restartlease"
)

const (
	// writeTimeout bounds one write with the reads it needs.
	writeTimeout = 10 * time.Second
	// conflictsAtMost is how often a write is tried again because somebody else has
	// changed the Lease.
	conflictsAtMost = 3
	// yieldFor is how many Intervals the Lease is left to another holder that does not
	// write it any more.
	yieldFor = 3
)

var (
	errConflicts = errors.New("somebody else changes the Lease again and again")
	errContended = errors.New("another process holds the Lease")
)

// beat is one write that is due.
type beat struct {
	at     time.Time
	review bool // ask for this process's rights first
}

// written is what came of it.
type written struct {
	beat
	acked    time.Time // when the API server had it; by the monotonic clock
	rv       string
	restarts restartlease.Restarts // as the Lease has them now
	garbled  bool                  // its annotation could not be read in full
	err      error
}

// writer writes the Lease. It is used by one goroutine at a time.
type writer struct {
	client    coordinationclient.LeaseInterface
	name      string
	identity  string
	duration  time.Duration
	interval  time.Duration
	known     *coordinationv1.Lease // as last read or written; nil: to be read
	took      bool                  // this process has been the holder since start
	rival     string                // the resourceVersion that another holder left
	rivalSeen time.Time             // when it was first seen
}

// write brings the Lease up to date: against what is known of it, and, where somebody
// else has changed that, against what is read live. It never reads a cache.
func (w *writer) write(ctx context.Context, b beat, edit func(restartlease.Restarts) restartlease.Restarts) written {
	out := written{beat: b}
	for range conflictsAtMost {
		if out.err = w.read(ctx); out.err != nil {
			return out
		}
		if out.err = w.yield(b.at); out.err != nil {
			return out
		}
		lease := w.next(b, edit, &out)
		var got *coordinationv1.Lease
		if w.known.UID == "" {
			got, out.err = w.client.Create(ctx, lease, metav1.CreateOptions{})
		} else {
			got, out.err = w.client.Update(ctx, lease, metav1.UpdateOptions{})
		}
		switch {
		case out.err == nil:
			w.known, w.took, w.rival = got, true, ""
			out.rv = got.ResourceVersion
			// As the server has them: something on the way may have other ideas.
			out.restarts, _ = restartlease.Parse(got.Annotations[annotation], b.at)
			return out
		case apierrors.IsConflict(out.err), apierrors.IsAlreadyExists(out.err), apierrors.IsNotFound(out.err):
			w.known = nil // changed, made or deleted by somebody else
		default:
			w.known = nil // it may have been written all the same
			return out
		}
	}
	if apierrors.IsNotFound(out.err) {
		return out // the namespace is gone
	}
	out.err = fmt.Errorf("%w: %w", errConflicts, out.err)
	return out
}

// read fetches the Lease where it is not known.
func (w *writer) read(ctx context.Context) error {
	if w.known != nil {
		return nil
	}
	lease, err := w.client.Get(ctx, w.name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: w.name}}
	case err != nil:
		return err
	}
	w.known = lease
	return nil
}

// yield returns an error as long as the Lease is somebody else's, who took it from
// this process and still writes it. A leader that starts takes it from its predecessor.
func (w *writer) yield(now time.Time) error {
	holder := ""
	if h := w.known.Spec.HolderIdentity; h != nil {
		holder = *h
	}
	if !w.took || holder == w.identity || holder == "" {
		return nil
	}
	if rv := w.known.ResourceVersion; rv != w.rival {
		w.rival, w.rivalSeen = rv, now
	}
	if now.Sub(w.rivalSeen) > yieldFor*w.interval {
		return nil
	}
	w.known = nil // look again next time
	return fmt.Errorf("%w: %s. If that is another operator, give one of them another Options.Name; if it is another replica of this one, turn leader election on; if it is the new leader, this process will end", errContended, holder)
}

// next is the Lease as it has to be after the write. All that others have put there
// stays.
func (w *writer) next(b beat, edit func(restartlease.Restarts) restartlease.Restarts, out *written) *coordinationv1.Lease {
	lease := w.known.DeepCopy()
	s := &lease.Spec
	now, seconds := metav1.NewMicroTime(b.at), int32(w.duration/time.Second)
	if s.HolderIdentity == nil || *s.HolderIdentity != w.identity {
		if s.HolderIdentity != nil {
			n := int32(0)
			if s.LeaseTransitions != nil {
				n = *s.LeaseTransitions
			}
			n = min(n, math.MaxInt32-1) + 1
			s.LeaseTransitions = &n
		}
		s.HolderIdentity, s.AcquireTime = &w.identity, &now
	}
	s.RenewTime, s.LeaseDurationSeconds = &now, &seconds

	old := lease.Annotations[annotation]
	had, ok := restartlease.Parse(old, b.at)
	out.garbled = !ok
	if text := edit(had).String(); text != old {
		lease.Annotations = maps.Clone(lease.Annotations)
		if lease.Annotations == nil {
			lease.Annotations = map[string]string{}
		}
		lease.Annotations[annotation] = text
		if text == "" {
			delete(lease.Annotations, annotation)
		}
	}
	return lease
}
