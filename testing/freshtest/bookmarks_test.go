// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// slack is how late a bookmark may be: one tick of the server, which is jittered, and the bucket it is sorted into.
const slack = 1250 * time.Millisecond

func TestQuietKindGetsNoBookmark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		client := typedClient(t, srv)
		rec := watchConfigMaps(t, client, watchOptions(srv.ResourceVersion(), 10*time.Minute))
		srv.Bump(10)
		mustCreate(t, srv, widget("a", 1))
		pass(8 * time.Minute)
		if got := rec.take(); got != nil {
			t.Errorf("a watch of a quiet kind delivered %v", got)
		}
	})
}

func TestConsistentListShowsInTheNextBookmark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		client := typedClient(t, srv)
		rec := watchConfigMaps(t, client, watchOptions(srv.ResourceVersion(), time.Hour))
		for minute := 1; minute <= 5; minute++ {
			srv.Bump(10)
			want := listConfigMaps(t, client)
			pass(bookmarkPeriod + slack)
			got := rec.take()
			if len(got) != 1 || got[0].Type != watch.Bookmark || got[0].RV != want {
				t.Fatalf("minute %d: got %v, want one bookmark at %d", minute, got, want)
			}
			due := time.Duration(minute) * bookmarkPeriod
			if at := got[0].After; at < due-time.Second || at > due+time.Duration(minute)*slack {
				t.Errorf("bookmark %d came after %v, want about %v", minute, at, due)
			}
		}
	})
}

// TestBookmarkSoonAfterWatchList has the first bookmark after the initial events come with the next tick.
func TestBookmarkSoonAfterWatchList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		client := typedClient(t, srv)
		rec := watchConfigMaps(t, client, watchListOptions(time.Hour))
		srv.Bump(1)
		want := listConfigMaps(t, client)
		pass(slack)
		if got := rec.take(); len(got) != 2 || got[1].RV != want {
			t.Errorf("got %v, want the end of the initial events and a bookmark at %d", got, want)
		}
		srv.Bump(1)
		listConfigMaps(t, client)
		pass(bookmarkPeriod - 2*slack)
		if got := rec.take(); got != nil {
			t.Errorf("got %v within the next minute", got)
		}
	})
}

func TestBookmarkBeforeTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		client := typedClient(t, srv)
		rec := watchConfigMaps(t, client, watchOptions(srv.ResourceVersion(), 5*time.Second))
		srv.Bump(1)
		want := listConfigMaps(t, client)
		pass(5 * time.Second)
		got := rec.take()
		if len(got) == 0 || got[0].Type != watch.Bookmark || got[0].RV != want {
			t.Fatalf("got %v, want a bookmark at %d first", got, want)
		}
		if at, due := got[0].After, 3*time.Second; at < due-time.Second || at > due+slack {
			t.Errorf("it came after %v of 5s, want about %v", at, due)
		}
		if at, status := rec.end(); at != 5*time.Second || status != nil {
			t.Errorf("the watch ended after %v with %v, want 5s and no error", at, status)
		}
	})
}

func TestFrozenWatchCacheRepeatsItsBookmark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		client := typedClient(t, srv)
		before := srv.ResourceVersion()
		mustCreate(t, srv, configMap("a"))
		frozen := srv.ResourceVersion()
		old := watchConfigMaps(t, client, watchOptions(before, time.Hour))
		srv.FreezeWatchCache(configMaps)
		young := watchConfigMaps(t, client, watchOptions(frozen, time.Hour))
		mustCreate(t, srv, configMap("b"))
		pass(3*bookmarkPeriod + 3*slack)

		// The old watch is told of a at its beginning, which is then where it began: at the frozen RV, as the young one.
		if diff := cmp.Diff([]string{"ADDED a"}, names(old.take())); diff != "" {
			t.Errorf("the watch from before (-want +got):\n%s", diff)
		}
		if got := young.take(); got != nil {
			t.Errorf("a watch that began at the frozen RV delivered %v", got)
		}
	})
}

func TestBookmarkRepeatsWhileTheCacheStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		client := typedClient(t, srv)
		rec := watchConfigMaps(t, client, watchOptions(srv.ResourceVersion(), time.Hour))
		synctest.Wait()
		mustCreate(t, srv, configMap("a"))
		frozen := srv.ResourceVersion()
		srv.FreezeWatchCache(configMaps)
		mustCreate(t, srv, configMap("b"))
		pass(3*bookmarkPeriod + 3*slack)
		got := rec.take()
		if diff := cmp.Diff([]string{"ADDED a", "BOOKMARK ", "BOOKMARK ", "BOOKMARK "}, names(got)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		for _, e := range got {
			if e.RV != frozen {
				t.Errorf("%v, want RV %d, at which the cache stands", e, frozen)
			}
		}
	})
}

func TestProgressNotify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{ProgressNotify: 5 * time.Second})
		rec := watchConfigMaps(t, typedClient(t, srv), watchOptions(srv.ResourceVersion(), time.Hour))
		srv.Bump(10)
		pass(bookmarkPeriod + slack)
		if got, want := rec.take(), srv.ResourceVersion(); len(got) != 1 || got[0].RV != want {
			t.Errorf("got %v, want one bookmark at %d", got, want)
		}
	})
}

func TestWithholdBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, freshtest.Options{})
		client := typedClient(t, srv)
		fault := srv.WithholdBookmarks(configMaps)
		rec := watchConfigMaps(t, client, watchListOptions(time.Hour))
		srv.Bump(1)
		listConfigMaps(t, client)
		pass(3*bookmarkPeriod + 3*slack)
		if diff := cmp.Diff([]string{"BOOKMARK "}, names(rec.take())); diff != "" {
			t.Errorf("want the end of the initial events only (-want +got):\n%s", diff)
		}
		if got := fault.Hits(); got < 3 {
			t.Errorf("Hits = %d, want at least 3", got)
		}
		fault.Lift()
		pass(bookmarkPeriod + slack)
		if got := rec.take(); len(got) != 1 {
			t.Errorf("after the fault: %v, want one bookmark", got)
		}
	})
}

const bookmarkPeriod = time.Minute
