// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"cmp"
	"slices"
	"time"
)

// WorstGenerations is how many lagging objects are named, in the log and in a
// GenerationStatus.
const WorstGenerations = 10

// GenerationStatus is what is known of a kind, for a debug page.
type GenerationStatus struct {
	Group, Version, Resource string
	// Namespace is empty for all.
	Namespace string
	// Objects were there at the last complete read, less those that were being deleted.
	// Trailing of them had a generation that was not observed, and Lagging of those had
	// trailed for longer than GenerationOptions.Limit.
	Objects, Trailing, Lagging int
	// Worst are the lagging objects that have trailed longest, that first; at most
	// WorstGenerations.
	Worst []GenerationLag
	// LastRead is when the last complete read ended. Zero: there was none.
	LastRead time.Time
	// Err is why the read after that failed. Nil: it did not.
	Err error
}

// GenerationLag is an object whose controller has not caught up with it.
type GenerationLag struct {
	Namespace, Name      string
	Generation, Observed int64
	// Age is for how long it has been seen to trail, less what this process was paused.
	Age time.Duration
}

// Status tells what is known of each kind, in the order in which they were given. It is
// empty while Start is not running.
func (g *Generations) Status() []GenerationStatus {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.run == nil {
		return nil
	}
	now := g.opts.Clock.Now()
	out := make([]GenerationStatus, 0, len(g.run.kinds))
	for _, k := range g.run.kinds {
		out = append(out, k.status(now))
	}
	return out
}

func (k *generationKind) status(now time.Time) GenerationStatus {
	lagging, _ := k.books.lagging()
	return GenerationStatus{
		Group: k.gvr.Group, Version: k.gvr.Version, Resource: k.gvr.Resource, Namespace: k.target.namespace,
		Objects: len(k.books.known), Trailing: len(k.books.trails), Lagging: lagging,
		Worst: k.books.worst(now), LastRead: k.lastRead, Err: k.err,
	}
}

// worst are the objects that lag, those that have trailed longest first.
func (b generationBooks) worst(now time.Time) []GenerationLag {
	var out []GenerationLag
	for _, t := range b.trails {
		if t.lags {
			out = append(out, GenerationLag{Namespace: t.namespace, Name: t.name, Generation: t.generation, Observed: t.observed, Age: now.Sub(t.since)})
		}
	}
	slices.SortFunc(out, func(x, y GenerationLag) int {
		return cmp.Or(cmp.Compare(y.Age, x.Age), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	return slices.Clip(out[:min(len(out), WorstGenerations)])
}
