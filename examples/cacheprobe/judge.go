// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/freshwatch/freshwatch/apiservers"
)

// verdict is what is known of a watch cache.
type verdict string

const (
	healthy     verdict = "healthy"     // it holds what the datastore held
	late        verdict = "late"        // behind, but it moves: waiting helps
	frozen      verdict = "frozen"      // behind, it does not move, and it ought to
	unreachable verdict = "unreachable" // no answer that says anything
	unknown     verdict = "unknown"     // cannot tell, and the reason says why
)

func (v verdict) exit() int {
	switch v {
	case healthy, late:
		return exitHealthy
	case frozen:
		return exitFrozen
	case unreachable:
		return exitUnreachable
	default:
		return exitUnknown
	}
}

// worst is the verdict on all: what somebody has to act on comes first.
func worst(verdicts []verdict) verdict {
	rank := map[verdict]int{healthy: 0, late: 1, unknown: 2, unreachable: 3, frozen: 4}
	all := healthy
	for _, v := range verdicts {
		if rank[v] > rank[all] {
			all = v
		}
	}
	return all
}

// finding is a verdict, and the sentence that explains it.
type finding struct {
	verdict verdict
	reason  string
}

// judge says what the samples of one kind on one server mean.
//
// A server reads its own watch cache for a consistent LIST and waits until that is
// up to date, so the cache can only be behind the LIST that came before it if it
// did not get there. That, at the same place in every sample, is the signature of a
// frozen cache. It is also that of a quiet kind on a datastore that does not report
// its progress, which is healthy. So one thing more is asked for: a change that the
// cache lacks, or another quiet kind that keeps up on the same server.
func judge(samples []sample) finding {
	var good []sample
	var failed error
	for _, s := range samples {
		if s.err != nil {
			failed = s.err
			continue
		}
		if _, _, err := s.versions(); err != nil {
			return finding{unknown, err.Error()}
		}
		good = append(good, s)
	}
	if len(good) == 0 {
		if failed == nil {
			return finding{unknown, "not asked"}
		}
		return finding{classify(failed), failed.Error()}
	}
	for _, s := range good {
		if lost := s.lost(); lost != "" {
			return finding{unknown, lost}
		}
		if !s.behind() {
			return finding{healthy, fmt.Sprintf("at or past %s, where the datastore was", s.quorum)}
		}
	}
	if f, moved := movement(good); moved {
		return f
	}
	where := fmt.Sprintf("at %s, behind %s", good[0].cache, good[0].quorum)
	switch {
	case len(samples) == 1:
		return finding{unknown, where + ", once: more samples would tell whether it moves"}
	case failed != nil:
		return finding{unknown, fmt.Sprintf("%s, but %d of %d samples failed: %v", where, len(samples)-len(good), len(samples), failed)}
	}
	return stillness(where, good)
}

// movement compares where the cache was, over time.
func movement(good []sample) (finding, bool) {
	for i := range good[1:] {
		earlierQuorum, earlier, _ := good[i].versions()
		laterQuorum, later, _ := good[i+1].versions()
		switch {
		case later < earlier || laterQuorum < earlierQuorum:
			return finding{unknown, fmt.Sprintf("went back from %s to %s: several servers behind one address, or a datastore restored from a backup",
				good[i].cache, good[i+1].cache)}, true
		case later > earlier:
			return finding{late, fmt.Sprintf("behind, but moving: %s, then %s", good[i].cache, good[i+1].cache)}, true
		}
	}
	return finding{}, false
}

// stillness judges a cache that was at the same place, and behind, in all of
// several samples.
func stillness(where string, good []sample) finding {
	first, last := good[0], good[len(good)-1]
	over := fmt.Sprintf("%s for %v", where, last.at.Sub(first.at).Round(time.Second))
	for _, earlier := range good[:len(good)-1] {
		if missing(earlier, last) {
			return finding{frozen, fmt.Sprintf("%s: it lacks %s of %s", over, earlier.live, earlier.object)}
		}
	}
	waited, progress := true, true
	for _, s := range good {
		waited, progress = waited && s.waited(), progress && s.progress
	}
	switch {
	case waited && progress:
		return finding{frozen, over + ": the server waits for it in vain, while another quiet kind keeps up"}
	case waited:
		return finding{unknown, over + ", and the server waits for it in vain, but nothing is known to be missing" +
			" and no quiet kind keeps up: ask for a kind that changes all the time, such as leases"}
	default:
		return finding{unknown, over + ", but nothing is known to be missing, and a quiet kind may stay behind" +
			" where the datastore reports no progress: name an object that changes, with -object"}
	}
}

// missing says whether the cache still lacks, in the last sample, what the
// datastore held in an earlier one.
func missing(earlier, last sample) bool {
	if earlier.live == "" || earlier.object != last.object {
		return false
	}
	live, err := parse(earlier.live)
	if err != nil {
		return false
	}
	if last.cached == "" {
		return last.live != "" // created, and not heard of
	}
	cached, err := parse(last.cached)
	return err == nil && cached < live
}

// lost tells of an object that the cache has passed and does not hold: what it
// missed is no matter of waiting.
func (s sample) lost() string {
	_, cache, _ := s.versions()
	live, err := parse(s.live)
	if err != nil || live > cache || s.cached == "" {
		return ""
	}
	if cached, err := parse(s.cached); err != nil || cached >= live {
		return ""
	}
	return fmt.Sprintf("at %s, but it has %s of %s instead of %s: an event was lost", s.cache, s.cached, s.object, s.live)
}

// versions returns the resourceVersions as numbers.
func (s sample) versions() (quorum, cache uint64, err error) {
	if quorum, err = parse(s.quorum); err != nil {
		return 0, 0, err
	}
	cache, err = parse(s.cache)
	return quorum, cache, err
}

var errNotComparable = errors.New("resourceVersions that are no numbers cannot be compared")

func parse(resourceVersion string) (uint64, error) {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %q", errNotComparable, resourceVersion)
	}
	return n, nil
}

// classify says what a failed read means. An answer that no repetition will change
// says nothing about the cache; anything else is no answer.
func classify(err error) verdict {
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), apierrors.IsNotFound(err),
		apierrors.IsMethodNotSupported(err), apierrors.IsBadRequest(err), meta.IsNoMatchError(err),
		errors.Is(err, apiservers.ErrNotNamed):
		return unknown
	default:
		return unreachable
	}
}
