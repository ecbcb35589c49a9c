// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/freshwatch/freshwatch/internal/errtext"
)

// generationLine is for the log.
type generationLine struct {
	text          string
	keysAndValues []any
}

// news is what the log is told of a read: what has changed in how reads end, and in
// which objects lag. An object that begins to lag is worth a line, so that there is at
// most one an Interval however many follow; one that has caught up is not, unless it is
// the last.
func (k *generationKind) news(before generationResult, now time.Time) []generationLine {
	var out []generationLine
	say := func(text string, keysAndValues ...any) {
		out = append(out, generationLine{text, append([]any{"kind", k.String()}, keysAndValues...)})
	}
	switch {
	case k.err != nil && k.result != before:
		say("Generations cannot be read", "error", errtext.OneLine(k.err), "hint", generationHint(k.result, k.gvr, k.target.namespace))
		return out
	case k.err != nil:
		return nil
	case before != generationRead:
		say("Generations can be read again")
	}
	if k.bare && !k.toldBare {
		k.toldBare = true
		say("No object of this kind has a metadata.generation: nothing can be told of it")
	}
	lagging, oldest := k.books.lagging()
	newcomers := k.tell()
	switch {
	case newcomers:
		if k.lagged.IsZero() {
			k.lagged = oldest
		}
		say("Objects are ahead of their controller, which may be blind or stuck"+k.doubt(), "lagging", lagging, "worst", worstLags(k.books.worst(now), lagging))
	case lagging == 0 && !k.lagged.IsZero():
		say("No object lags any more", "after", now.Sub(k.lagged).Round(time.Second).String(), "trailing", len(k.books.trails))
		k.lagged = time.Time{}
	}
	return out
}

// doubt is added where nothing of a kind was ever observed.
func (k *generationKind) doubt() string {
	for _, t := range k.books.trails {
		if t.observed != 0 {
			return ""
		}
	}
	switch {
	case len(k.books.trails) < len(k.books.known):
		return ""
	case k.target.condition != "":
		return ", or never reports an observedGeneration in condition " + k.target.condition
	}
	return ", or never reports a status.observedGeneration"
}

// tell notes which objects lag, and whether some did not before.
func (k *generationKind) tell() (newcomers bool) {
	told := map[types.UID]bool{}
	for uid, t := range k.books.trails {
		if t.lags {
			told[uid] = true
			newcomers = newcomers || !k.told[uid]
		}
	}
	k.told = told
	return newcomers
}

func worstLags(worst []GenerationLag, all int) string {
	var lines []string
	for _, l := range worst {
		lines = append(lines, l.String())
	}
	if more := all - len(worst); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "; ")
}

// String names the object, and says how far behind its controller is.
func (l GenerationLag) String() string {
	name := l.Name
	if l.Namespace != "" {
		name = l.Namespace + "/" + name
	}
	return fmt.Sprintf("%s at generation %d, observed %d, for %v", name, l.Generation, l.Observed, l.Age.Round(time.Second))
}

// String names the kind.
func (k *generationKind) String() string {
	name := k.gvr.GroupResource().String()
	if k.target.namespace != "" {
		name += " in " + k.target.namespace
	}
	return name
}
