// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// fault is one way in which a watch goes quiet, and what is promised of it.
type fault struct {
	name, title string
	expect      string // told at the beginning
	meaning     string // told at the end, if all went as promised
	stock       string // how the stock operator notices
	guarded     string // and the guarded one, if not by what the monitor says

	warmUp  time.Duration // how long the guarded operator has to be Fresh before
	proofs  uint64        // and how many proofs each informer must have
	inject  func(*cluster) []*faultproxy.Injection
	holds   time.Duration        // how long after its detection it is lifted; 0: never
	over    func(o outcome) bool // nothing more will come
	lingers time.Duration        // how long it is watched on nevertheless
	limit   time.Duration        // of the time after the fault
	usually time.Duration        // that time, if all goes well

	failures func(o outcome) []string // promises that were not kept
}

const (
	// healLimit is the promise for a silent stream.
	healLimit = freshness.DefaultMaxStaleness
	// reconnectLimit is the promise for a dead connection: 15 s, and a new one.
	reconnectLimit = 20 * time.Second
)

// faults lists them, the default first.
func faults() []fault {
	return []fault{stream(), blackhole(), etcdWatch(), none()}
}

func faultNamed(name string) (fault, error) {
	var names []string
	for _, f := range faults() {
		if f.name == name {
			return f, nil
		}
		names = append(names, f.name)
	}
	return fault{}, fmt.Errorf("must be one of %s", strings.Join(names, ", "))
}

// mayCome tells whether the guarded operator is where the fault is to find it.
func (f fault) mayCome(now time.Time, informers []freshness.Status) bool {
	for _, st := range informers {
		if st.Verdict != freshness.Fresh || now.Sub(st.Since) < f.warmUp || st.Proofs < f.proofs {
			return false
		}
	}
	return len(informers) == 2
}

func stream() fault {
	return fault{
		name:  "stream",
		title: "the open watch on ConfigMaps goes silent, nothing else does",
		expect: `After 10 s the open watches on ConfigMaps go silent, one in each operator: no error, no end,
and the connection is fine. Then a ConfigMap and a Widget are edited. The Widget shows that
everything else works. Expect the guarded operator to see the edited ConfigMap within 75 s,
the stock one not at all.`,
		meaning: `A silent stream looks like a quiet one, so client-go waits for it to say something or to end, and
a dead one does neither. The guarded operator asked the API server how far it is, waited for its
own cache to get there in vain, and watched again from where it was: nothing was listed again, no
process was restarted. The verdict Fresh means "proven within the last 75 s", so where the cure is
quick it need not change.`,
		stock:  "never",
		warmUp: 10 * time.Second,
		inject: func(c *cluster) []*faultproxy.Injection {
			watches := faultproxy.Match{Verb: "watch", Resource: settings.resource()}
			return []*faultproxy.Injection{c.api.Inject(watches, faultproxy.Silence{OnlyOpen: true})}
		},
		over:     func(o outcome) bool { return o.guarded.saw(settings) },
		lingers:  20 * time.Second,
		limit:    2 * time.Minute,
		usually:  75 * time.Second,
		failures: streamFailures,
	}
}

func streamFailures(o outcome) []string {
	var c checks
	c.expect(o.guarded.saw(settings), "it did not see the edited ConfigMap within %s", short(o.waited))
	c.expect(o.guarded.seen[settings] <= healLimit, "it saw the edited ConfigMap after %s, promised are %s", short(o.guarded.seen[settings]), short(healLimit))
	c.expect(len(o.cures) == 1 && o.cures[0].rung == freshness.Resume && o.cures[0].worked,
		"it was to be cured by one resume; cures tried: %s", list(o.cures))
	c.expect(o.guarded.cost.relisted == 0, "%d objects were listed again", o.guarded.cost.relisted)
	c.expect(o.spared, "the informer for Widgets was suspected or cured, too")
	c.expect(o.liveness == nil, "its liveness probe failed: %v", o.liveness)
	c.expect(!o.stock.saw(settings), "the stock operator saw the edited ConfigMap, so the fault was none and this run shows nothing")
	return c
}

func blackhole() fault {
	return fault{
		name:  "blackhole",
		title: "the connections to the API server swallow all bytes, new ones work",
		expect: `After 10 s the open connections of both operators become black holes: bytes vanish, no FIN, no
RST. Then a ConfigMap and a Widget are edited. Expect the guarded operator to see both within 20 s,
with no object listed again; the stock one after about 45 s, having listed everything again.`,
		meaning: `Both found out by an HTTP/2 PING that was not answered. The guarded operator sends it after 10 s of
silence and waits 5 s, which is set for its rest.Config alone; client-go's own are 30 s and 15 s.
What counts more on a large cluster: to client-go a lost connection is an error of the watch, after
which it lists everything again. The guarded operator's watches ended as if by their timeout, so
that they went on where they were.`,
		stock:   "by PING, 30+15 s",
		guarded: "by PING, 10+5 s",
		warmUp:  10 * time.Second,
		inject: func(c *cluster) (out []*faultproxy.Injection) {
			for _, link := range c.links {
				out = append(out, link.Blackhole(faultproxy.Blackhole{Existing: true}))
			}
			return out
		},
		over:     func(o outcome) bool { return o.guarded.saw(settings) && o.stock.saw(settings) && o.fresh },
		lingers:  5 * time.Second,
		limit:    3 * time.Minute,
		usually:  time.Minute,
		failures: blackholeFailures,
	}
}

func blackholeFailures(o outcome) []string {
	var c checks
	c.expect(o.guarded.saw(settings), "it did not see the edited ConfigMap within %s", short(o.waited))
	c.expect(o.guarded.seen[settings] <= reconnectLimit, "it saw the edited ConfigMap after %s, promised are %s", short(o.guarded.seen[settings]), short(reconnectLimit))
	c.expect(o.guarded.cost.relisted == 0, "%d objects were listed again", o.guarded.cost.relisted)
	c.expect(o.fresh, "it is not proven fresh at the end; verdicts: %s", list(o.verdicts))
	c.expect(o.liveness == nil, "its liveness probe failed: %v", o.liveness)
	c.expect(o.guarded.seen[settings] < o.stock.seen[settings], "the stock operator saw it no later, after %s", short(o.stock.seen[settings]))
	return c
}

func etcdWatch() fault {
	return fault{
		name:  "etcd-watch",
		title: "etcd's watch on ConfigMaps goes silent, so the API server's own cache freezes",
		expect: `After a minute, in which the first bookmarks come, the API server's watch on etcd goes silent for
ConfigMaps: reads and writes work, but its watch cache stands still for every client. Then a
ConfigMap and a Widget are edited. Expect neither operator to see the ConfigMap, and the guarded
one to say ControlPlaneStalled, to try no cure and to keep its liveness probe green. Half a minute
after it has noticed, the fault is lifted.`,
		meaning: `Nothing in the operator was wrong, and nothing in it could help: a restarted one would have
attached to the same frozen cache and might never have synced. The guarded operator said whose
fault it was, for a person or an alert to act on, and held still. Once the API server was well, it
renewed its watch, to have the proof in seconds.`,
		stock:  "never",
		warmUp: 65 * time.Second,
		proofs: 2, // the first comes with the list, the second with a bookmark
		inject: func(c *cluster) []*faultproxy.Injection {
			return []*faultproxy.Injection{c.etcd.FreezeWatches("/registry/" + settings.resource() + "/")}
		},
		holds:    30 * time.Second,
		over:     func(o outcome) bool { return o.guarded.saw(settings) && o.stock.saw(settings) && o.fresh },
		lingers:  5 * time.Second,
		limit:    4 * time.Minute,
		usually:  115 * time.Second,
		failures: etcdWatchFailures,
	}
}

func etcdWatchFailures(o outcome) []string {
	var c checks
	c.expect(slices.Contains(o.verdicts, freshness.ControlPlaneStalled), "it did not say ControlPlaneStalled; verdicts: %s", list(o.verdicts))
	early := slices.ContainsFunc(o.cures, func(c cure) bool { return c.at < o.lifted || o.lifted == 0 })
	c.expect(!early, "it tried to cure what it cannot: %s", list(o.cures))
	c.expect(o.spared, "the informer for Widgets was suspected, too")
	c.expect(o.liveness == nil, "its liveness probe failed: %v", o.liveness)
	c.expect(o.guarded.saw(settings) && o.fresh, "it was not well again %s after the fault", short(o.waited))
	c.expect(o.guarded.seen[settings] >= o.lifted, "it saw the edited ConfigMap before the fault was lifted, so the fault was none")
	return c
}

func none() fault {
	return fault{
		name:  "none",
		title: "nothing, to see what the guard does when all is well",
		expect: `Nothing is broken and nothing is edited. Expect the guarded operator to prove both its informers
fresh about once a minute, though nothing happens that they could show it by.`,
		meaning: `Silence alone says nothing, so the guarded operator asks: one list a minute and informer that
returns no object. It found nothing wrong, and did nothing.`,
		warmUp:   10 * time.Second,
		inject:   func(*cluster) []*faultproxy.Injection { return nil },
		over:     func(outcome) bool { return false },
		limit:    5 * time.Minute,
		usually:  5 * time.Minute,
		failures: noneFailures,
	}
}

func noneFailures(o outcome) []string {
	var c checks
	c.expect(len(o.cures) == 0, "it tried to cure what is well: %s", list(o.cures))
	c.expect(len(o.verdicts) == 0 && o.spared, "it had other verdicts than Fresh; on ConfigMaps: %s", list(o.verdicts))
	c.expect(o.quiet.largestBound <= freshness.DefaultMaxStaleness,
		"its bound for Widgets reached %s, promised are %s", short(o.quiet.largestBound), short(freshness.DefaultMaxStaleness))
	c.expect(o.liveness == nil, "its liveness probe failed: %v", o.liveness)
	return c
}

// checks collects what was not as expected.
type checks []string

func (c *checks) expect(ok bool, format string, args ...any) {
	if !ok {
		*c = append(*c, fmt.Sprintf(format, args...))
	}
}
