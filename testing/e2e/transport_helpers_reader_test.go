// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// asking makes a reader fill its cache by LIST, and then ask the server to end
// each watch after d.
func asking(d time.Duration) reader {
	return func(lw cache.ListerWatcher) cache.ListerWatcher {
		return shortWatches{listFirst{cache.ToListerWatcherWithContext(lw)}, int64(d / time.Second)}
	}
}

type shortWatches struct {
	listFirst
	seconds int64
}

func (s shortWatches) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.TimeoutSeconds = &s.seconds
	return s.listFirst.WatchWithContext(ctx, o)
}
