// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"errors"
	"io"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	// limiterPatience is how long a LIST may wait for the client's own limiter (QPS and
	// Burst of its rest.Config) before reads go by watches, which client-go lets pass
	// (client-go 0.37, rest/request.go, Request.Watch). With ConcurrentReads waiting at
	// once, who else uses the client waits for ten times as long.
	limiterPatience = 200 * time.Millisecond
	// limiterMemory is for how long they do; doubled each time, up to limiterMemoryMost.
	limiterMemory     = 5 * time.Minute
	limiterMemoryMost = 4 * time.Hour
	// watchReadTimeout ends a watch that is a read, should its reader not.
	watchReadTimeout = 10 * time.Second
)

// errWatchRead is how a watch ends that cannot be a read: it brings objects, since
// the informer's own selector takes the place of the read's.
var errWatchRead = errors.New("a watch that should bring nothing brings something")

// limiter is what is known of the limiter of a monitor's clients. Which informers
// share one cannot be told, so that one which waits speaks for all.
type limiter struct {
	mu     sync.Mutex
	until  time.Time // LISTs are kept waiting, so read by watches
	memory time.Duration
}

func (l *limiter) starved(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Before(l.until)
}

// note takes how long a LIST had to wait before it was sent.
func (l *limiter) note(waited time.Duration, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if waited > limiterPatience && !now.Before(l.until) {
		if now.Sub(l.until) > limiterMemoryMost {
			l.memory = 0 // long ago
		}
		l.memory = min(max(limiterMemory, 2*l.memory), limiterMemoryMost)
		l.until = now.Add(l.memory)
	}
}

// measure returns a context whose requests are timed, and what tells how long the
// first had to wait before it asked for a connection: until now, if it has not, where
// the client is one whose requests can be timed.
func (l *listerWatcher) measure(ctx context.Context) (context.Context, func() time.Duration) {
	began := l.clock.Now()
	var waited atomic.Int64
	trace := &httptrace.ClientTrace{GetConn: func(string) { waited.CompareAndSwap(0, int64(max(1, l.clock.Since(began)))) }}
	return httptrace.WithClientTrace(ctx, trace), func() time.Duration {
		if w := waited.Load(); w > 0 || l.conn() == "" {
			return time.Duration(w)
		}
		return l.clock.Since(began)
	}
}

// conn names the connection of the open or last watch; empty: unknown.
func (l *listerWatcher) conn() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current.conn
}

// watchNothing is listNothing by a stream of initial events that are none, whose end
// is marked with the resourceVersion.
func (l *listerWatcher) watchNothing(ctx context.Context, at, selector string) (rv, conn string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var on sentOn
	seconds := int64(watchReadTimeout / time.Second)
	w, err := l.inner.WatchWithContext(l.learn(ctx, toProve, &on, nil), metav1.ListOptions{
		ResourceVersion: at, FieldSelector: selector, TimeoutSeconds: &seconds,
		SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
	})
	if err == nil {
		rv, err = endOfInitialEvents(ctx, w)
		w.Stop()
	}
	if errors.Is(err, errWatchRead) || apierrors.IsInvalid(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsForbidden(err) {
		l.mu.Lock()
		l.listOnly = true
		l.mu.Unlock()
		return l.listNothing(ctx, at, selector)
	}
	return rv, l.connOf(&on), err
}

// endOfInitialEvents waits for the bookmark that marks it.
func endOfInitialEvents(ctx context.Context, w watch.Interface) (rv string, err error) {
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case e, ok := <-w.ResultChan():
			switch {
			case !ok:
				return "", io.ErrUnexpectedEOF
			case e.Type == watch.Error:
				return "", apierrors.FromObject(e.Object)
			case e.Type != watch.Bookmark:
				return "", errWatchRead
			}
			m, err := meta.Accessor(e.Object)
			if err != nil {
				return "", errWatchRead
			}
			if m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
				return m.GetResourceVersion(), nil
			}
		}
	}
}
