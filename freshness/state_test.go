// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// sim drives a state by hand: an informer whose store, stream and API server
// do as the test says.
type sim struct {
	t   *testing.T
	s   state
	now time.Time
	o   observation
}

func newSim(t *testing.T, opts Options) *sim {
	t.Helper()
	opts, err := opts.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	m := &sim{t: t, s: state{limits: opts.limits()}, now: epoch}
	m.o = observation{synced: true, stored: "100", reflected: "100", byEvent: func(string) bool { return false }}
	m.open(streamInfo{initial: true, consistent: true})
	return m
}

// open begins the next stream.
func (m *sim) open(i streamInfo) {
	m.o.previous = m.o.stream
	m.o.previous.open, m.o.previous.ended = false, m.now
	i.id, i.open, i.began, i.answered = m.o.stream.id+1, true, m.now, m.now
	if i.timeout == 0 {
		i.timeout = 400 * time.Second
	}
	m.o.stream = i
}

// run takes looks until d has passed, and returns what the state asked for.
func (m *sim) run(d time.Duration) []action {
	m.t.Helper()
	var acts []action
	for end := m.now.Add(d); m.now.Before(end); {
		m.now = m.now.Add(tick)
		acts = append(acts, m.look()...)
	}
	return acts
}

func (m *sim) look() []action {
	m.o.now = m.now
	return m.s.step(m.o)
}

// until runs until the state asks for something of a kind, and returns it.
func (m *sim) until(kind actionKind, limit time.Duration) action {
	m.t.Helper()
	for range limit / tick {
		for _, a := range m.run(tick) {
			if a.kind == kind {
				return a
			}
		}
	}
	m.t.Fatalf("nothing of kind %d asked for within %v; verdict %v, doubt %+v", kind, limit, m.s.verdict(m.now), m.s.doubt)
	return action{}
}

func (m *sim) answer(rv string) answer {
	return answer{sent: m.now, received: m.now, stored: m.o.stored, rv: rv}
}

func (m *sim) move(rv string) { m.o.stored, m.o.reflected = rv, rv }

func (m *sim) want(v Verdict) {
	m.t.Helper()
	if got := m.s.verdict(m.now); got != v {
		m.t.Errorf("verdict at +%v = %v, want %v", m.now.Sub(epoch), got, v)
	}
}

// proveByBookmark lets one minute pass in which a bookmark proves the informer.
func (m *sim) proveByBookmark(rv string) {
	m.t.Helper()
	m.until(actRead, 62*time.Second)
	m.s.onRead(m.answer(rv))
	m.run(time.Second)
	m.move(rv)
	m.run(3 * time.Second)
	m.want(Fresh)
}

// stall lets a proof become overdue on a stream that is known to have bookmarks.
func (m *sim) stall(rv string) {
	m.t.Helper()
	m.proveByBookmark("110")
	m.until(actRead, 62*time.Second)
	m.s.onRead(m.answer(rv))
	m.until(actProbe, 5*time.Second)
}

func TestConsistentInitialListIsAProof(t *testing.T) {
	m := newSim(t, Options{})
	m.look()
	m.want(Fresh)
	if !m.s.freshAsOf.Equal(epoch) {
		t.Errorf("fresh as of %v, want the moment the list was asked for", m.s.freshAsOf)
	}
}

func TestInconsistentInitialListIsNone(t *testing.T) {
	m := newSim(t, Options{})
	m.o.stream.consistent = false // LIST at resourceVersion 0: whatever the cache held
	acts := m.run(tick)
	m.want(Syncing)
	if len(acts) != 1 || acts[0].kind != actRead {
		t.Errorf("asked for %v, want a read at once", acts)
	}
}

func TestOverdueProofAsksTheServerFirst(t *testing.T) {
	m := newSim(t, Options{})
	m.stall("120")
	m.want(Suspect)
	for _, a := range m.run(5 * time.Second) {
		if a.kind != actRead {
			t.Errorf("did %v before the server answered", a)
		}
	}
	m.s.onProbe(m.answer("121"))
	m.want(Stalled)
	if got := m.until(actCure, tick); got.rung != Resume {
		t.Errorf("first cure %v, want resume", got.rung)
	}
}

// noConnections is a way to new connections that nobody asks.
type noConnections struct{}

func (noConnections) Recycle() int { return 0 }

func TestLadder(t *testing.T) {
	for _, tt := range []struct {
		name  string
		opts  Options
		crowd bool
		again bool // a relist has helped a minute ago
		want  []Rung
	}{
		{"by itself", Options{}, false, false, []Rung{Resume, Relist, List}},
		{"with connections", Options{Connections: noConnections{}}, false, false, []Rung{Resume, Relist, List, Reconnect}},
		{"again", Options{Connections: noConnections{}}, false, true, []Rung{Resume, Reconnect, Relist, List}},
		{"again, without connections", Options{}, false, true, []Rung{Resume, Relist, List}},
		{"most stall at once", Options{Connections: noConnections{}}, true, false, []Rung{Resume, Reconnect, Relist, List}},
		{"most stall at once, without connections", Options{}, true, false, []Rung{Resume, Relist, List}},
		{"not allowed", Options{Connections: noConnections{}, DisabledCures: []Rung{Relist, Reconnect}}, false, false, []Rung{Resume, List}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newSim(t, tt.opts)
			m.o.crowd = tt.crowd
			if tt.again {
				m.s.relisted = m.now.Add(-time.Minute)
			}
			testLadder(t, m, tt.want)
		})
	}
}

func testLadder(t *testing.T, m *sim, rungs []Rung) {
	t.Helper()
	m.stall("120")
	m.s.onProbe(m.answer("121"))
	for _, want := range rungs {
		got := m.until(actCure, time.Second)
		if got.rung != want {
			t.Fatalf("cure %v, want %v", got.rung, want)
		}
		m.open(streamInfo{short: want.resumes()})
		m.until(actProbe, patience(want)+time.Second) // asked again before the next cure
		m.s.onProbe(m.answer("125"))
	}
	if acts := m.run(20 * time.Second); len(acts) > 0 && acts[0].kind == actCure {
		t.Errorf("next round began without a pause")
	}
	if got := m.until(actCure, time.Minute); got.rung != Resume {
		t.Errorf("next round begins with %v, want resume", got.rung)
	}
}

func TestCureIsProvenByTheStore(t *testing.T) {
	m := newSim(t, Options{})
	m.stall("120")
	m.s.onProbe(m.answer("121"))
	m.until(actCure, tick)
	m.open(streamInfo{short: true, timeout: verifyTimeout})
	m.run(time.Second)
	m.move("120")
	m.run(tick)
	m.want(Fresh)
	if got := m.s.counters.provenCures; got != [4]uint64{1, 0, 0, 0} {
		t.Errorf("proven cures %v, want one resume", got)
	}
}

func TestLateServerIsNotCured(t *testing.T) {
	m := newSim(t, Options{})
	m.stall("120")
	for i, step := range []struct {
		at   string
		want Verdict
	}{
		{"110", Suspect},             // behind
		{"112", Suspect},             // behind, but moving
		{"112", Suspect},             // perhaps a quiet kind's, and late
		{"112", ControlPlaneStalled}, // at the same place for 20 s
		{"112", ControlPlaneStalled},
		{"113", Suspect}, // moving again
	} {
		m.s.onProbe(m.answer(step.at))
		m.want(step.want)
		for range retryRead / tick {
			for _, a := range m.run(tick) {
				switch a.kind {
				case actCure:
					t.Fatalf("cured with %v after answer %d: a cure does not help a server that is behind", a.rung, i)
				case actRead:
					m.s.onRead(m.answer("130"))
				case actProbe, actServers, actAudit:
				}
			}
		}
	}
}

func TestStoreBehindItsStreamIsNotCured(t *testing.T) {
	m := newSim(t, Options{})
	m.stall("120")
	m.o.reflected = "130" // queued, not yet applied
	m.s.onProbe(m.answer("121"))
	for _, a := range m.run(time.Minute) {
		if a.kind == actCure {
			t.Fatalf("cured with %v: the stream has brought the change", a.rung)
		}
	}
}

func TestPausedProcessMovesEveryDeadline(t *testing.T) {
	for _, pause := range []time.Duration{2 * time.Second, 3 * time.Minute, 10 * time.Hour} {
		m := newSim(t, Options{})
		m.proveByBookmark("110")
		m.until(actRead, 62*time.Second)
		m.s.onRead(m.answer("120"))
		m.now = m.now.Add(pause)
		for _, a := range m.run(2 * time.Second) {
			if a.kind != actRead {
				t.Errorf("pause of %v: did %v at wake", pause, a)
			}
		}
		if m.s.doubt != nil {
			t.Errorf("pause of %v: doubt at wake", pause)
		}
	}
}

func TestSetClockForgetsThePhase(t *testing.T) {
	m := newSim(t, Options{})
	m.proveByBookmark("110")
	m.until(actRead, 62*time.Second)
	m.s.onRead(m.answer("120"))
	m.s.forgive(m.now, tick, tick+time.Hour) // the wall clock says more
	if got, want := m.s.pending.due, m.now.Add(longestProof); !got.Equal(want) {
		t.Errorf("due %v, want a whole period from now, %v", got, want)
	}
	if m.s.readSoon.IsZero() {
		t.Error("no read planned")
	}
}

// The oldest outstanding proof counts: younger ones must not put it off.
func TestLaterReadsDoNotPostpone(t *testing.T) {
	m := newSim(t, Options{})
	m.proveByBookmark("110")
	m.until(actRead, 62*time.Second)
	m.s.onRead(m.answer("120"))
	due := m.s.pending.due
	for rv := 121; rv < 125; rv++ {
		m.s.onRead(m.answer("121"))
	}
	if got := m.s.pending.due; !got.Equal(due) || m.s.pending.rv != "120" {
		t.Errorf("the outstanding proof is %+v, want resourceVersion 120 due %v", m.s.pending, due)
	}
}

func TestWentBack(t *testing.T) {
	m := newSim(t, Options{})
	m.proveByBookmark("110")
	m.until(actRead, 62*time.Second)
	m.s.onRead(m.answer("50"))
	m.want(Fresh) // once may be a server that is being replaced
	m.until(actRead, confirmGap+tick)
	m.s.onRead(m.answer("51"))
	m.want(Stalled)
	if got := m.until(actCure, tick); got.rung != Relist {
		t.Errorf("cure %v, want relist: there is nothing to resume from", got.rung)
	}
	m.move("51")
	m.until(actRead, confirmGap+tick)
	m.s.onRead(m.answer("52"))
	m.want(Fresh)
}

// The end of a restore ends the search, and proves nothing by itself.
func TestEndOfARestoreIsNoProof(t *testing.T) {
	m := newSim(t, Options{})
	m.proveByBookmark("110")
	m.until(actRead, 62*time.Second)
	m.s.onRead(m.answer("50"))
	m.until(actRead, confirmGap+tick)
	m.s.onRead(m.answer("51"))
	m.until(actCure, tick)
	m.move("51")
	m.until(actRead, confirmGap+tick)
	m.s.onRead(m.answer("60"))
	if m.s.freshAsOf.Equal(m.now) {
		t.Error("store at 51, API server at 60, and fresh as of now")
	}
}

// Liveness counts the time in which the stream was to blame and could be cured.
func TestTimeThatDoesNotCountTowardsLiveness(t *testing.T) {
	tests := []struct {
		name string
		pass func(m *sim) // lets time pass
	}{
		{"reads fail for an hour", func(m *sim) {
			m.s.onProbe(answer{sent: m.now, received: m.now, err: errReadTimeout, state: readUnreachable})
			for end := m.now.Add(time.Hour); m.now.Before(end); {
				for _, a := range m.run(tick) {
					failed := answer{sent: m.now, received: m.now, stored: m.o.stored, err: errReadTimeout, state: readUnreachable}
					switch a.kind {
					case actRead:
						m.s.onRead(failed)
					case actProbe:
						m.s.onProbe(failed)
					case actCure, actServers, actAudit:
					}
				}
			}
			m.until(actProbe, 20*time.Second)
			m.s.onProbe(m.answer("121"))
			m.run(tick)
		}},
		{"paused for ten minutes", func(m *sim) {
			m.s.onProbe(m.answer("121"))
			m.run(tick)
			m.now = m.now.Add(10 * time.Minute)
			m.look()
		}},
		{"watches are refused for an hour", func(m *sim) {
			m.s.onProbe(m.answer("121"))
			m.o.stream.open, m.o.err = false, apierrors.NewTooManyRequests("later", 1)
			for end := m.now.Add(time.Hour); m.now.Before(end); {
				m.o.stream.ended = m.now
				m.run(time.Second)
			}
			m.want(Unreachable)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newSim(t, Options{})
			m.stall("120")
			tt.pass(m)
			if failsLiveness(m.s.verdict(m.now), m.s.stalledFor(), DefaultFailAfter) {
				t.Errorf("liveness fails; cures so far %v", m.s.counters.cures)
			}
		})
	}
}

func TestAnswerToAnEarlierDoubt(t *testing.T) {
	m := newSim(t, Options{})
	m.stall("120")
	asked := m.now
	m.move("120")
	m.run(time.Second)
	m.s.onRead(m.answer("130"))
	m.until(actProbe, 2*time.Minute)
	old := answer{sent: asked, received: m.now, rv: "110"}
	m.s.onProbe(old)
	m.s.onProbe(old)
	m.want(Suspect)
}

// With nothing allowed but watching, a whole period on one stream convicts.
func TestNoCuresAndAReadFromElsewhere(t *testing.T) {
	m := newSim(t, Options{DisabledCures: []Rung{Resume, Relist, List}})
	m.o.stream.conn = "A"
	m.proveByBookmark("110")
	m.until(actRead, 62*time.Second)
	a := m.answer("120")
	a.conn = "B"
	m.s.onRead(a)
	m.until(actProbe, 5*time.Second)
	m.s.onProbe(m.answer("121"))
	m.run(time.Hour)
	m.want(Stalled)
}

// A watch that was renewed in vain convicts, but not where its connection may lead to
// another API server than the one that was asked.
func TestVerifyingWatchOnAnotherConnection(t *testing.T) {
	for conn, want := range map[string]Verdict{"A": Stalled, "B": Fresh} {
		m := newSim(t, Options{})
		m.o.stream.conn = "A"
		on := func(conn string) answer {
			a := m.answer("120")
			a.conn = conn
			return a
		}
		m.proveByBookmark("110")
		m.until(actRead, 62*time.Second)
		slow := on("A") // which explains that the bookmark does not bring it
		slow.sent = slow.sent.Add(-cacheWait)
		m.s.onRead(slow)
		m.until(actProbe, longestProof+time.Second)
		m.s.onProbe(on("A"))
		if got := m.until(actCure, time.Second); got.rung != Resume {
			t.Fatalf("cure %v, want resume", got.rung)
		}
		m.open(streamInfo{conn: conn, short: true, timeout: verifyTimeout})
		m.run(verifyTimeout)
		if conn != "A" { // that one is dead, and this one brings nothing
			m.open(streamInfo{conn: conn})
		}
		m.until(actProbe, verifySlack+2*tick)
		m.want(want)
	}
}

func TestReadsThatProveNothing(t *testing.T) {
	tests := []struct {
		name   string
		answer answer
		want   Verdict
	}{
		{"no number", answer{rv: "7b-4"}, Blind},
		{"empty", answer{rv: ""}, Blind},
		{"forbidden", answer{err: errors.New("forbidden"), state: readBlind}, Blind},
		{"refused", answer{err: errors.New("refused"), state: readUnreachable}, Unreachable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newSim(t, Options{})
			for range 3 {
				m.until(actRead, 62*time.Second)
				a := tt.answer
				a.sent, a.received, a.stored = m.now, m.now, m.o.stored
				m.s.onRead(a)
			}
			m.run(10 * time.Second)
			m.want(tt.want)
		})
	}
}

func TestDisabledCures(t *testing.T) {
	m := newSim(t, Options{DisabledCures: []Rung{Resume, Relist, List}})
	m.stall("120")
	m.s.onProbe(m.answer("121"))
	for _, a := range m.run(10 * time.Minute) {
		if a.kind == actCure {
			t.Fatalf("tried %v", a.rung)
		}
	}
	m.want(Stalled)
}

func TestOptions(t *testing.T) {
	tests := []struct {
		name string
		o    Options
		want string
	}{
		{"zero", Options{}, ""},
		{"short staleness", Options{MaxStaleness: MinMaxStaleness - 1}, "freshness: Options.MaxStaleness is 14.999999999s, but must be at least 15s (a watch has to be renewed and to prove itself in that time)"},
		{"negative", Options{MaxStaleness: -1}, "freshness: Options.MaxStaleness is -1ns, but must be at least 15s (a watch has to be renewed and to prove itself in that time)"},
		{"long staleness moves the default of FailAfter", Options{MaxStaleness: time.Hour}, ""},
		{"liveness before cures", Options{FailAfter: time.Minute}, "freshness: Options.FailAfter is 1m0s, but must be at least 1m15s (MaxStaleness, so that cures come first)"},
		{"sync", Options{SyncTimeout: time.Millisecond}, "freshness: Options.SyncTimeout is 1ms, but must be at least 1s (an initial list takes time)"},
		{"read", Options{ReadTimeout: time.Second}, "freshness: Options.ReadTimeout is 1s, but must be at least 4s (a server with a frozen watch cache answers after 3s)"},
		{"concurrency", Options{ConcurrentReads: -1}, "freshness: Options.ConcurrentReads is -1, but must be at least 1"},
		{"cure", Options{DisabledCures: []Rung{7}}, "freshness: Options.DisabledCures holds Rung(7), but the cures are resume, relist, list and reconnect"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := New(tt.o)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("New (-want +got):\n%s", diff)
			}
			if (m == nil) != (err != nil) {
				t.Errorf("New returned %v and %v", m, err)
			}
		})
	}
}

// The first proof gives the next one a bound to keep, though it was begun when
// there was none.
func TestFirstProofHastensTheNext(t *testing.T) {
	m := newSim(t, Options{})
	began := m.now
	m.now = m.now.Add(time.Minute)
	m.s.pending = &proof{at: began, rv: "100", due: m.now.Add(time.Second), limit: m.now.Add(time.Second)}
	m.s.newer = &proof{at: m.now, rv: "200", due: m.now.Add(longestProof), limit: m.now.Add(longestProof)}
	m.o.now = m.now
	m.s.settle(m.o)
	if !m.s.freshAsOf.Equal(began) || m.s.pending == nil {
		t.Fatalf("fresh as of %v, pending %+v", m.s.freshAsOf, m.s.pending)
	}
	if latest := began.Add(DefaultMaxStaleness - renewalTime); m.s.pending.due.After(latest) {
		t.Errorf("the next is due %v after the bound would allow it", m.s.pending.due.Sub(latest))
	}
}

// A restored datastore never brings what was written before: it is not waited for.
func TestRestoreForgetsWhatIsOwed(t *testing.T) {
	m := newSim(t, Options{})
	m.s.owe(m.now, "150", func() bool { return false })
	for range 2 {
		m.s.onRead(m.answer("50"))
		m.run(confirmGap)
	}
	if !m.s.owed.since.IsZero() {
		t.Errorf("%+v is still owed", m.s.owed)
	}
}

// A client that does not look at its context waits for the headers of a watch as long
// as the API server is down: nothing in this process blocks it, and a restart would
// not help. Once it was answered, a reflector that does not come back is another matter.
func TestCutWatchThatWaitsForHeadersConvictsNobody(t *testing.T) {
	for _, answered := range []bool{false, true} {
		m := newSim(t, Options{})
		m.proveByBookmark("110")
		m.open(streamInfo{cut: true})
		if !answered {
			m.o.stream.answered = time.Time{}
		}
		m.run(2*storePatience + DefaultFailAfter + time.Minute)
		if fails := failsLiveness(m.s.verdict(m.now), m.s.stalledFor(), DefaultFailAfter); fails != answered {
			t.Errorf("answered %v: liveness fails %v; verdict %v", answered, fails, m.s.verdict(m.now))
		}
	}
}

// A watch cache that lacks a write to its own kind stands still, whether or not it was
// ever seen to follow writes to others.
func TestFrozenCacheThatLacksAnOwnWrite(t *testing.T) {
	for _, own := range []bool{true, false} {
		m := newSim(t, Options{Audit: AuditOptions{Disabled: true}})
		m.run(time.Second)
		if own {
			m.s.owe(m.now, "150", func() bool { return true })
		} else {
			m.until(actRead, 62*time.Second)
			m.s.onRead(m.answer("150"))
		}
		for range 4 {
			m.until(actProbe, longestProof+retryRead)
			m.s.onProbe(m.answer("100"))
			m.run(time.Second)
			m.s.goodRead = m.now
		}
		want := Blind
		if own {
			want = ControlPlaneStalled
		}
		m.want(want)
	}
}

// What a list brings is no bookmark, and what an event brings is none either: neither
// makes the next one due.
func TestWhatIsNoBookmark(t *testing.T) {
	for name, bring := range map[string]func(m *sim){
		"list":  func(m *sim) { m.o.stream.open = false },
		"event": func(m *sim) { m.o.byEvent = func(string) bool { return true } },
	} {
		m := newSim(t, Options{})
		m.s.noBookmarks = true
		m.until(actRead, 62*time.Second)
		m.s.onRead(m.answer("110"))
		m.until(actProbe, longestProof+time.Second) // overdue
		bring(m)
		m.move("110")
		m.run(tick)
		if m.s.doubt != nil || m.s.bookmarks || !m.s.noBookmarks {
			t.Errorf("%s: doubt %v, bookmarks %v, none %v", name, m.s.doubt, m.s.bookmarks, m.s.noBookmarks)
		}
	}
}

// Where the end of initial events moves nothing, nobody knows when it was. It is asked
// now and then until it must have been.
func TestInitialEventsWithoutAVisibleEnd(t *testing.T) {
	m := newSim(t, Options{})
	m.proveByBookmark("110")
	m.s.syncTook = 30 * time.Second
	m.open(streamInfo{initial: true})
	reads := 0
	for range 80 * int(time.Second/tick) {
		for _, a := range m.run(tick) {
			if a.kind == actRead {
				m.s.onRead(m.answer("120"))
				reads++
			}
		}
	}
	if reads > 9 {
		t.Errorf("%d reads in 80 s", reads)
	}
}

// A stream that began while this process did not run owes its bookmark from then on.
func TestStreamThatBeganBeforeAPause(t *testing.T) {
	m := newSim(t, Options{})
	m.proveByBookmark("110")
	m.until(actRead, 62*time.Second)
	m.s.onRead(m.answer("120"))
	m.open(streamInfo{})
	m.now = m.now.Add(10 * time.Minute)
	m.look()
	m.want(Suspect)
	if d := m.s.doubt; d != nil {
		t.Errorf("doubt %+v at the first look after a pause", d)
	}
}

// On a datastore without progress a watch cache stays behind, which says nothing. But
// what it has, the stream has to bring.
func TestCacheThatDoesNotFollowAndIsAhead(t *testing.T) {
	m := newSim(t, Options{Audit: AuditOptions{Disabled: true}})
	m.until(actRead, 62*time.Second)
	m.s.onRead(m.answer("150"))
	asked := func() {
		m.until(actProbe, longestProof+retryRead)
		m.s.onProbe(m.answer("105"))
	}
	asked()
	for range 2 {
		m.run(time.Second)
		m.s.goodRead = m.now
		asked()
	}
	if got := m.until(actCure, time.Second); got.rung != Resume {
		t.Fatalf("cure %v, want resume", got.rung)
	}
	fresh := m.s.freshAsOf
	m.open(streamInfo{short: true, timeout: verifyTimeout})
	m.move("105")
	m.run(tick)
	if m.s.doubt != nil || !m.s.freshAsOf.Equal(fresh) {
		t.Errorf("doubt %+v, fresh as of %v, was %v", m.s.doubt, m.s.freshAsOf, fresh)
	}
}

// Nobody rests over a pause, nor when the wall clock is set or the machine slept.
func TestDisturbed(t *testing.T) {
	m := &Monitor{}
	for _, tt := range []struct {
		name       string
		mono, wall time.Duration // of the clocks
		want       bool
	}{
		{"the first look", 0, 0, true},
		{"a tick later", tick, tick, false},
		{"two later", 3 * tick, 3 * tick, false},
		{"more than two later", 5*tick + 1, 5*tick + 1, true},
		{"the wall clock is adjusted", 6 * tick, 6*tick + clockSlip, false},
		{"the wall clock is set forward", 7 * tick, 7*tick + 2*clockSlip + 1, true},
		{"the wall clock is set back", 8 * tick, 8*tick - 1, true},
	} {
		if got := m.disturbed(reading(tt.mono, tt.wall)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
