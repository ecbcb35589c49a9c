// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "time"

// profile is what an informer, its kind and the way to its API servers are like.
// Requests that are spread over several API servers at random are left out: which
// server said what is then anybody's guess, see the design's limits.
type profile struct {
	maxStaleness  time.Duration
	reconnects    bool // Options.Connections is set
	resumeOnly    bool // lists are disabled
	bounded       bool // package transport shortens its watches
	path          path
	cutAfter      time.Duration // of path cutting
	net           time.Duration
	listTime      time.Duration
	connectionAge time.Duration
	otherReaders  time.Duration
	asks          time.Duration // between calls of EnsureFresh; 0: none
	writes        bool          // this process writes objects of the kind
	busy          busyness
}

// path is what lies between client and API server.
type path int

const (
	plain        path = iota
	cutting           // ends every stream after a while
	bookmarkless      // passes no bookmarks on
)

// busyness is how much is written.
type busyness int

const (
	quiet busyness = iota
	trickling
	busy
)

func drawProfile(d dice, c *cluster) profile {
	pick := func(choices ...time.Duration) time.Duration { return choices[d.IntN(len(choices))] }
	p := profile{
		maxStaleness:  DefaultMaxStaleness,
		reconnects:    d.chance(0.5),
		resumeOnly:    d.chance(0.1),
		bounded:       d.chance(0.3),
		net:           pick(200*time.Microsecond, time.Millisecond, 5*time.Millisecond, 30*time.Millisecond),
		listTime:      pick(5*time.Millisecond, 100*time.Millisecond, time.Second, 6*time.Second),
		connectionAge: pick(10*time.Minute, 2*time.Hour, 100*time.Hour),
		otherReaders:  pick(30*time.Second, 10*time.Minute, 10*time.Minute),
		writes:        d.chance(0.3),
	}
	switch u := d.Float64(); {
	case u < 0.05:
		p.maxStaleness = 30 * time.Second
	case u < 0.07:
		p.maxStaleness = MinMaxStaleness
	case u < 0.12:
		p.maxStaleness = 5 * time.Minute
	}
	switch {
	case d.chance(0.04):
		p.path, p.cutAfter = cutting, pick(20*time.Second, time.Minute)
	case d.chance(0.03):
		p.path = bookmarkless
		p.maxStaleness = max(p.maxStaleness, DefaultMaxStaleness) // a shorter one cannot be kept
	}
	switch {
	case d.chance(0.1):
		p.busy = busy
	case d.chance(0.3):
		p.busy = trickling
	}
	if d.chance(0.1) {
		p.asks = 10 * time.Minute
	}
	*c = cluster{
		dice: d, still: never,
		others:     pick(100*time.Millisecond, 2*time.Second, 10*time.Second),
		noProgress: d.chance(0.01),
	}
	n := 1 + d.IntN(3)
	for range n {
		c.servers = append(c.servers, &watchCache{
			rv: 1, lag: pick(time.Millisecond, 5*time.Millisecond, 30*time.Millisecond),
			created: -d.between(0, time.Hour),
		})
	}
	return p
}

func (p profile) options() Options {
	o := Options{MaxStaleness: p.maxStaleness}
	if p.resumeOnly {
		o.DisabledCures = []Rung{Relist, List}
	}
	if p.reconnects {
		o.Connections = noConnections{}
	}
	return o
}

// latency is how long a message is on its way.
func (l *life) latency() time.Duration {
	d := l.between(l.net/2, 2*l.net)
	if l.chance(0.003) {
		d += l.between(0, 300*time.Millisecond)
	}
	return d
}

// slowness is what a server that has its time adds to an answer.
func (l *life) slowness(most time.Duration) time.Duration {
	if !l.weather.is(slow) {
		return l.between(0, 3*time.Millisecond)
	}
	return l.between(0, time.Duration(l.weather.spells[slow].severity*float64(most)))
}

// connect picks the connection for a request.
func (l *life) connect() (connection, bool) {
	if l.conn.name == "" || l.cluster.servers[l.conn.server].down {
		l.newConnection()
	}
	return l.conn, l.conn.name != ""
}

// newConnection has requests from now on take another connection.
func (l *life) newConnection() {
	j := l.cluster.alive()
	if j < 0 {
		l.conn = connection{}
		return
	}
	l.conns++
	l.conn = connection{connectionNames[l.conns%len(connectionNames)], j}
}

var connectionNames = [...]string{"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P"}

// mood is what is written at present.
type mood struct {
	gap time.Duration // on average; 0: nothing
}

func (l *life) changeMood(t time.Duration) {
	var lasts time.Duration
	switch {
	case l.mood.gap > 0 && l.chance(0.7) || l.busy == quiet && l.chance(0.3):
		l.mood.gap, lasts = 0, l.span(10*time.Second, 12*time.Hour)
	case l.chance(0.3):
		l.mood.gap, lasts = l.between(10*time.Millisecond, 200*time.Millisecond), l.span(time.Second, time.Minute)
	case l.busy == busy:
		l.mood.gap, lasts = l.between(time.Second, 15*time.Second), l.span(time.Minute, 2*time.Hour)
	default:
		l.mood.gap, lasts = l.between(15*time.Second, 10*time.Minute), l.span(5*time.Minute, 6*time.Hour)
	}
	l.timers[tMood] = t + lasts
	l.timers[tCommit] = never
	if l.mood.gap > 0 {
		l.timers[tCommit] = t + l.about(l.mood.gap)
	}
}

// write commits a change of the kind.
func (l *life) write(t time.Duration) {
	l.timers[tCommit] = t + l.about(l.mood.gap)
	if l.cluster.still != never {
		return
	}
	c := l.cluster.commit(t)
	l.faults.lacks(t)
	if w := l.stream; w != nil && w.live && !w.over {
		l.timers[tForward] = min(l.timers[tForward], c.on[w.conn.server])
	}
	if l.writes && t >= l.asleepTo && l.synced && l.chance(0.3) {
		l.owe(l.clock.at(t), versionText(c.rv), func() bool {
			return len(l.cluster.commits) > 0 && l.cluster.commits[0].rv <= c.rv
		})
		l.dirty = true
	}
}
