// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/freshwatch/freshwatch/internal/snapshots"
	"github.com/freshwatch/freshwatch/testing/page/internal/chromium"
)

// refreshed waits until the page has taken over what the stage shows now, by its clock.
func (b *tab) refreshed(s *stage) {
	b.t.Helper()
	b.await("document.querySelector('.asof time').dateTime === '" + s.Snapshot().Time.UTC().Format("2006-01-02T15:04:05Z") + "'")
}

// TestRefreshKeeps: what a person has done to the page outlasts its refreshing.
func TestRefreshKeeps(t *testing.T) {
	s := newStage(t, snapshots.Healthy())
	b := s.open(t, chromium.Phone())
	eval[string](b, `(() => {
		window.kept = document.querySelector(".informer:nth-child(4) summary");
		kept.parentElement.open = true;
		document.querySelector("#incident-3-evidence").open = true;
		kept.focus();
		kept.scrollIntoView({ block: "center", behavior: "instant" });
		window.wasAt = scrollY;
		const reason = kept.parentElement.querySelector("dt");
		getSelection().selectAllChildren(reason);
		window.selected = String(getSelection());
		return selected;
	})()`)
	for _, next := range []time.Duration{7 * time.Second, 14 * time.Second} {
		s.show(snapshots.Later(snapshots.Healthy(), next))
		b.refreshed(s)
	}
	for what, kept := range map[string]string{
		"the focus":                           "document.activeElement === kept && kept.isConnected",
		"an informer that was folded out":     "kept.parentElement.open",
		"evidence that was folded out":        "document.querySelector('#incident-3-evidence').open",
		"evidence that was not":               "!document.querySelector('#incident-5-evidence').open",
		"how far it is scrolled":              "scrollY === wasAt && scrollY > 0",
		"the selection":                       "String(getSelection()) === selected && selected !== ''",
		"and yet the bound is that of now":    "kept.querySelector('.bound').textContent.replace(/\u00a0/g, ' ') === '69 s of 75 s'",
		"and so is the meter for a reader":    "kept.querySelector('[role=meter]').ariaValueNow === '69'",
		"and times are as long ago as at now": "document.querySelector('#incident-5 time').textContent.includes('24')",
	} {
		if !eval[bool](b, kept) {
			t.Errorf("not kept: %s (%s)", what, eval[string](b, "document.activeElement.outerHTML.slice(0, 200) + ' ' + scrollY + ' ' + wasAt + kept.innerText"))
		}
	}
}

// TestRefreshFollows: an informer that is no longer fresh moves up, and the focus that was
// on it goes with it; and back.
func TestRefreshFollows(t *testing.T) {
	s := newStage(t, snapshots.Healthy())
	b := s.open(t, chromium.Desktop())
	eval[string](b, `(() => {
		const summary = [...document.querySelectorAll(".informer summary")].find((e) => e.textContent.includes("configmaps"));
		window.id = summary.closest("li").id;
		summary.focus();
		return id;
	})()`)
	const focused = "document.activeElement.tagName === 'SUMMARY' && document.activeElement.closest('li').id === id"
	s.show(snapshots.Stalled())
	b.await("document.querySelector('#failing #' + id)")
	if !eval[bool](b, focused+" && document.querySelectorAll('#' + id).length === 1") {
		t.Errorf("the focus is on %s", eval[string](b, "document.activeElement.outerHTML"))
	}
	if got := eval[string](b, "document.title"); got != "Stalled · inference-operator" {
		t.Errorf("the tab says %q", got)
	}
	s.show(snapshots.Healthy())
	b.await("document.querySelector('#fresh-list #' + id)")
	if !eval[bool](b, focused) {
		t.Errorf("the focus is on %s", eval[string](b, "document.activeElement.outerHTML"))
	}
	if got := eval[string](b, "document.title"); got != "All fresh · inference-operator" {
		t.Errorf("the tab says %q", got)
	}
}

// TestRefreshIsThePage: after any number of refreshes the page is the one that a new tab
// gets.
func TestRefreshIsThePage(t *testing.T) {
	s := newStage(t, snapshots.Empty())
	b := s.open(t, chromium.Desktop())
	const body = `(() => { const m = document.querySelector("main").cloneNode(true); m.querySelectorAll("[open]").forEach((d) => d.removeAttribute("open")); return m.outerHTML; })()`
	all := scenes()
	for _, name := range []string{"healthy", "stalled", "troubled", "healthy", "long", "empty", "troubled", "stalled"} {
		scene := all[name]
		s.show(scene)
		// The scenes differ in what the tab says, or else in their headlines.
		fresh := s.open(t, chromium.Desktop())
		fresh.unfold()
		want := eval[string](fresh, body)
		b.unfold()
		b.await("(" + body + ") === " + quote(want))
	}
}

// quote writes a text in JavaScript.
func quote(s string) string {
	b, _ := json.Marshal(s) // of a string that cannot fail
	return string(b)
}

// TestAnnouncement: a screen reader is told of the diagnosis when that changes, and of
// nothing else.
func TestAnnouncement(t *testing.T) {
	s := newStage(t, snapshots.Healthy())
	b := s.open(t, chromium.Desktop())
	eval[int](b, `(() => {
		window.told = [];
		for (const live of document.querySelectorAll("[aria-live], [role=status], output")) {
			new MutationObserver(() => told.push(live.id + ": " + live.textContent)).observe(live, { childList: true, characterData: true, subtree: true });
		}
		return document.querySelectorAll("[aria-live], [role=status], output").length;
	})()`)
	s.show(snapshots.Later(snapshots.Healthy(), 20*time.Second))
	b.refreshed(s)
	if got := eval[[]string](b, "told"); len(got) != 0 {
		t.Errorf("nothing has happened, and a screen reader is told %q", got)
	}
	s.show(snapshots.Stalled())
	b.await("told.length > 0")
	got := eval[[]string](b, "told")
	if len(got) != 1 || !strings.HasPrefix(got[0], "diagnosis: The watch of configmaps") {
		t.Errorf("a screen reader is told %q, want the diagnosis once", got)
	}
}

// TestPause: refreshing is paused, and goes on, by the keyboard.
func TestPause(t *testing.T) {
	s := newStage(t, snapshots.Healthy())
	b := s.open(t, chromium.Desktop())
	eval[bool](b, "(document.querySelector('#pause').focus(), true)")
	b.press(kb.Enter, 1)
	b.await("document.querySelector('#pause').ariaPressed === 'true' && document.querySelector('#note').textContent.startsWith('Paused at ')")
	s.show(snapshots.Stalled())
	before := s.pages.Load()
	b.await("new Promise((done) => setTimeout(() => done(true), 2500))")
	if n := s.pages.Load() - before; n > 1 { // one may have been under way
		t.Errorf("the page was asked for %d times though it was paused", n)
	}
	if got := eval[string](b, "document.title"); !strings.HasPrefix(got, "All fresh") {
		t.Errorf("paused, and the tab says %q", got)
	}

	b.press(kb.Tab, 1)
	b.press(kb.Enter, 1) // Refresh now
	b.await("document.title.startsWith('Stalled')")
	if !eval[bool](b, "document.querySelector('#note').textContent.startsWith('Paused at ')") {
		t.Error("refreshing once has ended the pause")
	}

	eval[bool](b, "(document.querySelector('#pause').focus(), true)")
	b.press(" ", 1)
	s.show(snapshots.Healthy())
	b.await("document.title.startsWith('All fresh') && document.querySelector('#note').textContent === '' && document.querySelector('#pause').ariaPressed === 'false'")
}

// TestHidden: a tab that nobody looks at asks for nothing, and is up to date as soon as
// somebody does.
func TestHidden(t *testing.T) {
	s := newStage(t, snapshots.Healthy())
	b := s.open(t, chromium.Desktop())
	hide := func(yes bool) {
		eval[bool](b, fmt.Sprintf("(Object.defineProperty(document, 'hidden', { value: %t, configurable: true }), document.dispatchEvent(new Event('visibilitychange')))", yes))
	}
	hide(true)
	before := s.pages.Load()
	b.await("new Promise((done) => setTimeout(() => done(true), 2500))")
	if n := s.pages.Load() - before; n > 1 {
		t.Errorf("the page was asked for %d times though nobody looks", n)
	}
	s.show(snapshots.Stalled())
	hide(false)
	b.await("document.title.startsWith('Stalled')")
}

// TestNoAnswer: a page whose server is gone, or does not know the viewer any more, says
// so, shows what was known, and goes on when it is back.
func TestNoAnswer(t *testing.T) {
	s := newStage(t, snapshots.Healthy())
	b := s.open(t, chromium.Desktop())
	b.expected = "the server responded with a status of 401"
	s.status.Store(http.StatusUnauthorized)
	b.await("document.querySelector('#note').textContent.includes('401')")
	if !eval[bool](b, "document.querySelector('#diagnosis').textContent === 'All 6 informers are fresh.'") {
		t.Error("what was known is not shown any more")
	}
	s.show(snapshots.Stalled())
	s.status.Store(0)
	b.await("document.title.startsWith('Stalled') && document.querySelector('#note').textContent === ''")
}
