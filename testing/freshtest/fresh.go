// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// progressPeriod is how often kube-apiserver asks etcd for progress while a read waits for it (progressRequestPeriod
// in k8s.io/apiserver/pkg/storage/cacher/progress, read at v0.37.2).
const progressPeriod = 100 * time.Millisecond

var (
	errTimeout = errors.New("timed out")
	errStopped = errors.New("the server has been stopped")
)

// waitFresh waits until the watch cache has reached rv, asking etcd for progress meanwhile. It fails with 504 "Too
// large resource version" after Options.FreshWait, or when ctx or the server ends. The caller holds the lock, which
// waitFresh gives up while it waits.
func (cl *cluster) waitFresh(ctx context.Context, c *watchCache, rv uint64) error {
	if c.rv >= rv {
		return nil
	}
	if cl.options.ProgressDelay == 0 {
		c.advance(cl.store.rv)
	}
	timeout := cl.clock.NewTimer(cl.options.FreshWait)
	defer timeout.Stop()
	progress := cl.clock.NewTimer(max(cl.options.ProgressDelay, 1))
	defer progress.Stop()
	for c.rv < rv {
		ask, err := cl.pause(ctx, c.moved, progress.C(), timeout.C())
		switch {
		case errors.Is(err, errTimeout):
			return tooLarge(rv, c.rv)
		case err != nil:
			return err
		case ask:
			progress.Reset(progressPeriod)
			c.advance(cl.store.rv)
		}
	}
	return nil
}

// pause gives up the lock until the watch cache has moved, it is time to ask for progress, or there is no point in
// waiting any longer.
func (cl *cluster) pause(
	ctx context.Context, moved <-chan struct{}, progress, timeout <-chan time.Time,
) (ask bool, err error) {
	cl.mu.Unlock()
	defer cl.mu.Lock()
	select {
	case <-moved:
		return false, nil
	case <-progress:
		return true, nil
	case <-timeout:
		return false, errTimeout
	case <-ctx.Done():
		return false, ctx.Err()
	case <-cl.done:
		return false, errStopped
	}
}

// tooLarge is the error by which kube-apiserver says that its watch cache has not reached an RV.
func tooLarge(wanted, current uint64) *apierrors.StatusError {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", wanted, current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type:    metav1.CauseTypeResourceVersionTooLarge,
		Message: "Too large resource version",
	}}
	return err
}
