// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
	"k8s.io/utils/clock"

	"github.com/freshwatch/freshwatch/internal/apipath"
	"github.com/freshwatch/freshwatch/internal/streamctx"
)

// listerWatcher passes an informer's lists and watches on, remembers the stream
// that is open, and ends it on request. Events do not go through it: the channel
// that the reflector reads is the client's own.
type listerWatcher struct {
	inner       cache.ListerWatcherWithContext
	noWatchList bool // the client says that it does not do WatchList
	clock       clock.PassiveClock

	mu        sync.Mutex
	gvr       schema.GroupVersionResource // as seen in request paths
	ns        string
	selectors *apipath.Selectors // of the informer's own requests; nil: not known
	current   streamInfo
	previous  streamInfo
	expire    func()    // ends the current stream; nil: none open
	stop      func()    // the same, for clients that ignore the context
	lists     int       // lists under way
	tried     time.Time // when the informer last sent a list or watch; zero: never
	err       error     // how the last request failed; nil after a success

	relist     bool          // answer the next watch with "expired"
	short      bool          // give the next watch verifyTimeout
	length     time.Duration // or this
	refuseInit bool          // refuse streams of initial events, so that the reflector lists
	vain       int           // streams of initial events in a row that ended at once
	listUntil  time.Time     // no such streams before
	exact      bool          // make the next list one at an exact resourceVersion
	limiter    *limiter
	nothing    string // the field selector that reads use
	listOnly   bool   // reads by watches bring what they should not
}

const (
	// maxVain is how many streams of initial events may end at once before the reflector
	// is made to list, for listFor.
	maxVain = 10
	listFor = 10 * time.Minute
)

var (
	_ cache.ListerWatcher            = (*listerWatcher)(nil)
	_ cache.ListerWatcherWithContext = (*listerWatcher)(nil)
)

func newListerWatcher(lw cache.ListerWatcher, c clock.PassiveClock, shared *limiter) *listerWatcher {
	return &listerWatcher{
		inner:       cache.ToListerWatcherWithContext(lw),
		noWatchList: watchlist.DoesClientNotSupportWatchListSemantics(lw),
		clock:       c,
		nothing:     nothing,
		limiter:     shared,
	}
}

// IsWatchListSemanticsUnSupported passes on what client-go's reflector asks of
// a ListerWatcher before it streams initial events.
func (l *listerWatcher) IsWatchListSemanticsUnSupported() bool { return l.noWatchList }

// List implements cache.Lister.
func (l *listerWatcher) List(opts metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), opts)
}

// Watch implements cache.Watcher.
func (l *listerWatcher) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), opts)
}

// ListWithContext implements cache.ListerWithContext.
func (l *listerWatcher) ListWithContext(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	l.mu.Lock()
	l.lists++
	l.tried = l.clock.Now()
	l.mu.Unlock()
	ctx = l.learn(ctx, own, nil, nil)
	if opts.Continue == "" && l.takeExact() {
		if rv, _, err := l.readVersion(ctx); err == nil {
			opts.ResourceVersion, opts.ResourceVersionMatch = rv, metav1.ResourceVersionMatchExact
		}
	}
	obj, err := l.inner.ListWithContext(ctx, opts)
	l.mu.Lock()
	l.lists--
	l.err = err
	l.mu.Unlock()
	return obj, err
}

// WatchWithContext implements cache.WatcherWithContext.
func (l *listerWatcher) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	var on sentOn
	var id uint64
	sctx := streamctx.New(l.learn(ctx, own, &on, &id))
	var err error
	id, err = l.begin(sctx, &opts)
	if err != nil {
		sctx.Release()
		return nil, err
	}
	w, err := l.inner.WatchWithContext(sctx, opts) //nolint:contextcheck // sctx is made from ctx
	if err != nil {
		cut := sctx.Expired()
		sctx.Release()
		l.refused(id, err)
		if cut {
			// Cut while waiting for headers. An empty watch makes the reflector
			// watch again; the error would make it relist.
			return watch.NewEmptyWatch(), nil
		}
		return nil, err
	}
	l.answered(id, &on, w.Stop)
	return &stream{Interface: w, ctx: sctx, ended: func() { l.end(id, nil) }}, nil
}

// begin opens the books on a new stream, or refuses it as a cure demands.
func (l *listerWatcher) begin(sctx *streamctx.Context, opts *metav1.ListOptions) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	initial, now := opts.SendInitialEvents != nil && *opts.SendInitialEvents, l.clock.Now()
	if initial && (l.refuseInit || l.exact || l.fruitless(now)) {
		l.relist = false // the list that follows is one
		return 0, apierrors.NewBadRequest("freshness: a stream of initial events will not do; list instead")
	}
	if l.relist && !initial {
		l.relist = false
		return 0, apierrors.NewResourceExpired("freshness: a relist is due")
	}
	next := streamInfo{
		id: l.current.id + 1, open: true, initial: initial,
		consistent: initial && opts.ResourceVersion == "",
		began:      now,
	}
	if l.short && !initial {
		seconds := int64(verifyTimeout / time.Second)
		opts.TimeoutSeconds = &seconds
		next.short = true
	}
	if l.length > 0 && !initial {
		seconds := int64(l.length / time.Second)
		opts.TimeoutSeconds = &seconds
	}
	l.short, l.relist, l.length = false, false, 0
	if opts.TimeoutSeconds != nil {
		next.timeout = time.Duration(*opts.TimeoutSeconds) * time.Second
	}
	if l.current.id > 0 {
		l.previous = l.current
	}
	l.current, l.expire, l.stop = next, sctx.Expire, nil
	l.tried = now
	return next.id, nil
}

// fruitless tells whether streams of initial events have ended at once again and
// again: client-go repeats those without a pause (0.37), and lists with one. The
// caller holds the lock.
func (l *listerWatcher) fruitless(now time.Time) bool {
	c := l.current
	if c.initial && !c.open && !c.cut && c.ended.Sub(c.began) < time.Second && now.Sub(c.ended) < time.Second {
		l.vain++
	} else if !now.Before(l.listUntil) {
		l.vain = 0
	}
	if l.vain >= maxVain {
		l.vain, l.listUntil = 0, now.Add(listFor)
	}
	return now.Before(l.listUntil)
}

func (l *listerWatcher) answered(id uint64, on *sentOn, stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = nil
	if l.current.id == id {
		l.current.answered, l.stop = l.clock.Now(), stop
		l.current.conn, l.current.ends = on.conn, on.ends
	}
}

// refused ends a watch that was never opened. What it should have proven, the next
// one has to.
func (l *listerWatcher) refused(id uint64, err error) {
	l.mu.Lock()
	if l.current.id == id && l.current.short && !l.current.cut {
		l.short = true
	}
	l.mu.Unlock()
	l.end(id, err)
}

func (l *listerWatcher) end(id uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.err = err
	}
	if l.current.id == id && l.current.open {
		l.current.open, l.current.ended = false, l.clock.Now()
		l.expire, l.stop = nil, nil
	}
}

// cure prepares the next requests for the rung and ends the open stream, if
// any, so that they come at once.
func (l *listerWatcher) cure(r Rung) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prepare(r, false)
}

// renew ends the open watch, and gives the next one a length.
func (l *listerWatcher) renew(length time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prepare(Resume, false)
	l.short, l.length = false, length
}

// refill has everything listed again at an exact resourceVersion, see contents.
func (l *listerWatcher) refill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prepare(Relist, true)
}

// prepare is cure. The caller holds the lock.
func (l *listerWatcher) prepare(r Rung, exact bool) {
	l.short = r.resumes()
	l.relist = !r.resumes()
	l.exact = exact
	l.refuseInit = l.refuseInit || r == List
	switch {
	case l.expire == nil:
	case l.current.cut && l.stop != nil:
		// Cut before and still open: this client does not look at its context. Its
		// own Stop may cost a relist, but ends the stream.
		l.stop()
	default:
		l.current.cut = true
		l.expire()
	}
}

// takeExact tells, once, whether a list has to be made at an exact resourceVersion.
func (l *listerWatcher) takeExact() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	exact := l.exact
	l.exact = false
	return exact
}

// look returns the open stream, the one before it, and how the last request
// failed.
func (l *listerWatcher) look() (current, previous streamInfo, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	current = l.current
	current.listing, current.tried = l.lists > 0, l.tried
	return current, l.previous, l.err
}

// stream is the watch that the reflector reads. It adds nothing to the channel.
type stream struct {
	watch.Interface
	ctx   *streamctx.Context
	ended func()
	once  sync.Once
}

// Stop implements watch.Interface. The reflector calls it whenever it has done
// with a watch, however that ended.
func (s *stream) Stop() {
	s.once.Do(func() {
		s.ended()
		s.Interface.Stop()
		s.ctx.Release()
	})
}
