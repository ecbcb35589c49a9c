// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// generationSource is what Generations takes of a manager.
type generationSource interface {
	GetAPIReader() client.Reader
	GetScheme() *runtime.Scheme
	GetRESTMapper() meta.RESTMapper
}

// Generations finds a controller that does not see its objects, for whatever reason:
// it reads them from the API server, past every cache, and tells which of them have had
// for too long a metadata.generation that the controller has not reported as observed.
// Make one with NewGenerations, register it as a prometheus.Collector, and add it to the
// manager, which runs it on the leader.
//
// A read lists metadata, in pages of 250 objects, and the objects themselves only of
// pages on which a generation is new. The first read of a kind reads all in full. It needs
// the right to list, and some 100 bytes of memory for each object, twice that while it
// reads.
//
// What cannot be told: an object that is being deleted is left out, since that moves its
// generation and controllers need not report it; a generation that was once observed is
// not looked at again, though its status may be cleared; a controller that reports a
// generation which it has not acted on is believed; and objects that are made anew more
// often than GenerationOptions.Limit never lag. One without the status subresource
// trails for ever, since each write of its status moves the generation.
//
// Where reads fail, it finds nothing: with the controller's own dead token, over the same
// dead line, or where an API server answers no list while its watch cache is frozen
// (429, with the feature ConsistentListFromCacheSkipTimeoutFallback, alpha in 1.37; by
// default lists take 3 s more then, and a minute where there are several pages). It says
// so, and freshwatch_generation_read_age_seconds grows.
//
// All methods are safe for concurrent use.
type Generations struct {
	opts    GenerationOptions
	reader  client.Reader
	mapper  meta.RESTMapper
	targets []generationTarget
	descs   generationDescs

	mu  sync.Mutex
	run *generationRun // nil: Start is not running
}

// NewGenerations returns a Generations that reads the given kinds with the API reader of
// mgr, which is a manager.Manager or a cluster.Cluster. It sends nothing: a kind that is
// not served, or may not be listed, is told once it is read, and read once it can be. The
// error names the kind or option that is wrong, its value and the rule.
func NewGenerations(mgr generationSource, kinds []GenerationKind, opts GenerationOptions) (*Generations, error) {
	if isNil(mgr) {
		return nil, errors.New("reconcile: NewGenerations wants a manager, got nil")
	}
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	targets, err := generationTargets(kinds, mgr.GetScheme())
	if err != nil {
		return nil, err
	}
	return &Generations{opts: opts, reader: mgr.GetAPIReader(), mapper: mgr.GetRESTMapper(), targets: targets, descs: newGenerationDescs()}, nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: one reader is enough,
// and a standby reconciles nothing.
func (g *Generations) NeedLeaderElection() bool { return true }

// Start reads until ctx ends. It fails only while it runs already; after it has returned
// nothing is remembered or exported, and it can be called again, as by a process that
// leads again.
func (g *Generations) Start(ctx context.Context) error {
	r, err := g.begin()
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	defer g.end()
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan generationOutcome)
	timer := g.opts.Clock.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case out := <-results:
			g.take(r, out)
		case <-timer.C():
			if k := g.due(r); k != nil {
				wg.Go(func() { g.read(ctx, k, results) })
			}
			timer.Reset(generationTick)
		}
	}
}

// begin opens the books on a term of leadership. Kinds are spread over the first
// Interval, and keep that distance, give or take the jitter.
func (g *Generations) begin() (*generationRun, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.run != nil {
		return nil, errors.New("reconcile: Generations runs already: it was added to the manager twice, or Start called twice")
	}
	now := g.opts.Clock.Now()
	r := &generationRun{looked: now, propagation: newGenerationHistogram()}
	for i, target := range g.targets {
		r.kinds = append(r.kinds, &generationKind{
			target: target, gvr: target.guess(), backoff: generationBackoff(g.opts.Interval),
			due: now.Add(time.Duration(i) * g.opts.Interval / time.Duration(len(g.targets))),
		})
	}
	g.run = r
	return r, nil
}

func (g *Generations) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.run = nil
}

// read reads a kind. The API server is asked for the name of its resource first: the
// manager's mapper asks once, and again as long as the kind is not served.
func (g *Generations) read(ctx context.Context, k *generationKind, results chan<- generationOutcome) {
	out := generationOutcome{kind: k, gvr: k.gvr}
	mapping, err := g.mapping(ctx, k)
	if err != nil {
		out.err = fmt.Errorf("the resource of %v: %w", k.target.gvk, err)
	} else {
		out.gvr = mapping.Resource
		r := generationReader{client: g.reader, clock: g.opts.Clock, target: k.target, known: k.books.known}
		out.reading, out.err = r.read(ctx)
	}
	select {
	case results <- out:
	case <-ctx.Done(): // an error may be nothing but that
	}
}

// generationMapping is an answer of the mapper.
type generationMapping struct {
	*meta.RESTMapping
	err error
}

// mapping asks the mapper, which takes no context, and may hang as long as the API server
// does. It is called for one kind at a time, and leaves at most one question a kind behind.
func (g *Generations) mapping(ctx context.Context, k *generationKind) (*meta.RESTMapping, error) {
	if k.mapping == nil {
		answer := make(chan generationMapping, 1)
		k.mapping = answer
		go func() {
			m, err := g.mapper.RESTMapping(k.target.gvk.GroupKind(), k.target.gvk.Version)
			answer <- generationMapping{m, err}
		}()
	}
	timer := g.opts.Clock.NewTimer(generationTimeout)
	defer timer.Stop()
	select {
	case m := <-k.mapping:
		k.mapping = nil
		return m.RESTMapping, m.err
	case <-timer.C():
		return nil, fmt.Errorf("no answer within %v: %w", generationTimeout, context.DeadlineExceeded)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var _ prometheus.Collector = (*Generations)(nil)
