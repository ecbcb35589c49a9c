// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// loseEvents has the informers miss an update, a creation and a deletion, while
// bookmarks carry their streams past them.
func (f *fixture) loseEvents() {
	f.t.Helper()
	time.Sleep(time.Minute) // a short watch ends soon, and the next one would bring them
	lost := f.srv.DropEvents(widgets, 3)
	for _, err := range []error{f.srv.Update(widget("a", "blue")), f.srv.Create(widget("new", "blue")), f.srv.Delete(widget("b", ""))} {
		if err != nil {
			f.t.Fatal(err)
		}
	}
	time.Sleep(3 * time.Minute) // or a renewed watch would bring them, from the server's history
	lost.Lift()
}

func (f *fixture) fill() {
	f.t.Helper()
	for _, name := range []string{"a", "b", "c"} {
		if err := f.srv.Create(widget(name, "red")); err != nil {
			f.t.Fatal(err)
		}
	}
}

var lost = []string{"default/a", "default/b", "default/new"}

// Bookmarks carry resourceVersions past events that were lost: proofs hold, and
// the cache is wrong. Only the contents tell.
func TestAuditFindsLostEvents(t *testing.T) {
	for _, metadataOnly := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			srv, opts := widgetServer(t), freshness.Options{}
			if metadataOnly {
				opts.Metadata = metadataClient(t, srv)
			}
			f := newFixtureOn(t, srv, opts, func(lw cache.ListerWatcherWithContext) cache.ListerWatcher { return toListWatch(lw) })
			f.fill()
			f.warm()
			f.loseEvents()
			time.Sleep(10 * time.Minute)
			if st := f.status(); st.Verdict != freshness.Fresh || f.sees(f.guarded, "a", "blue")() {
				t.Fatalf("no fault: %+v", st)
			}
			f.sleepUntil(time.Hour, "diverged", f.is(freshness.Diverged))
			if diff := cmp.Diff(lost, f.status().Diverged); diff != "" {
				t.Errorf("diverged (-want +got):\n%s", diff)
			}
			if err := f.monitor.Check(nil); err != nil {
				t.Error(err)
			}
			f.sleepUntil(time.Minute, "fresh", f.is(freshness.Fresh))
			_, b, _ := f.guarded.GetStore().GetByKey("default/b")
			if !f.sees(f.guarded, "a", "blue")() || !f.sees(f.guarded, "new", "blue")() || b {
				t.Errorf("the cache still differs; events:\n%s", f.log())
			}
			if f.sees(f.stock, "a", "blue")() {
				t.Error("the stock informer has it, too: no fault")
			}
			if st := f.status(); st.Cures[freshness.Relist] != 1 || st.ProvenCures[freshness.Relist] != 1 {
				t.Errorf("cures %v, proven %v, want one relist", st.Cures, st.ProvenCures)
			}
		})
	}
}

func TestAuditOnDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{Audit: freshness.AuditOptions{Disabled: true}, DisabledCures: []freshness.Rung{freshness.Relist}})
		f.fill()
		f.warm()
		of := freshness.Informer{Group: widgets.Group, Resource: widgets.Resource}
		report, err := f.monitor.Audit(t.Context(), of)
		if err != nil || report.Objects != 3 || len(report.Diverged) > 0 {
			t.Errorf("healthy: %+v, %v", report, err)
		}
		f.loseEvents()
		if f.sees(f.guarded, "a", "blue")() {
			t.Fatalf("no fault; events:\n%s", f.log())
		}
		began := time.Now()
		report, err = f.monitor.Audit(t.Context(), of)
		if diff := cmp.Diff(lost, report.Diverged); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("took %v", took)
		}
		time.Sleep(time.Hour)
		if st := f.status(); st.Verdict != freshness.Diverged || st.Cures[freshness.Relist] > 0 {
			t.Errorf("%v, cures %v; want Diverged and none, with relists disabled", st.Verdict, st.Cures)
		}
		if _, err := f.monitor.Audit(t.Context(), freshness.Informer{Resource: "gadgets"}); !errors.Is(err, freshness.ErrNotMonitored) {
			t.Errorf("got %v, want ErrNotMonitored", err)
		}
	})
}

// A busy kind changes while it is compared: that is no divergence. One audit an
// hour, and no relist.
func TestAuditOfABusyKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{Audit: freshness.AuditOptions{Every: time.Minute}})
		f.fill()
		f.warm()
		n := 0
		f.every(200*time.Millisecond, func() {
			n++
			_ = f.srv.Update(widget("a", "blue"))
			_ = f.srv.Update(widget("a", "red"))
			_ = f.srv.Create(widget("d", "red"))
			_ = f.srv.Delete(widget("d", "red"))
		})
		time.Sleep(10 * time.Minute)
		f.harmless()
		if st := f.status(); st.Audits < 6 || st.FailedAudits > 0 || slices.Contains(f.verdicts(), freshness.Diverged) {
			t.Errorf("%d audits, %d failed, verdicts %v", st.Audits, st.FailedAudits, f.verdicts())
		}
	})
}

// A transform that takes resourceVersions away leaves nothing to compare: that is
// said, and nothing is done.
func TestAuditWithoutVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		strip := func(obj any) (any, error) { obj.(metav1.Object).SetResourceVersion(""); return obj, nil }
		if err := f.guarded.SetTransform(strip); err != nil {
			t.Fatal(err)
		}
		f.fill()
		f.warm()
		_, err := f.monitor.Audit(t.Context(), freshness.Informer{Group: widgets.Group, Resource: widgets.Resource})
		if !errors.Is(err, freshness.ErrAudit) {
			t.Errorf("got %v, want ErrAudit", err)
		}
		f.harmless()
	})
}

// What differs after a relist as well is relisted ever more rarely.
func TestDivergenceThatNoRelistCures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixtureWith(t, freshness.Options{Audit: freshness.AuditOptions{Every: time.Minute}}, func(lw cache.ListerWatcherWithContext) cache.ListerWatcher {
			lying := toListWatch(lw)
			lying.ListWithContextFunc = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				list, err := lw.ListWithContext(ctx, o)
				if err == nil && o.Limit == 500 {
					list.(*unstructured.UnstructuredList).Items[0].SetResourceVersion("1000000000")
				}
				return list, err
			}
			return lying
		})
		f.fill()
		f.warm()
		time.Sleep(2 * time.Hour)
		if n := f.status().Cures[freshness.Relist]; n < 3 || n > 7 {
			t.Errorf("%d relists in 2 h; status %+v", n, f.status())
		}
		if err := f.monitor.Check(nil); err != nil {
			t.Error(err)
		}
	})
}

func metadataClient(t *testing.T, srv *freshtest.Server) metadata.Interface {
	t.Helper()
	client, err := metadata.NewForConfig(srv.Config())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// A write of the program's own that the stream has moved past without bringing it was
// lost: that is known in seconds, not at the next audit.
func TestOwnWriteThatWasLostIsAudited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, freshness.Options{})
		f.fill()
		f.warm()
		f.srv.DropEvents(widgets, 1)
		if err := f.srv.Update(widget("a", "blue")); err != nil {
			t.Fatal(err)
		}
		f.monitor.Wrote(freshness.Informer{Group: widgets.Group, Resource: widgets.Resource}, "default/a", fmt.Sprint(f.srv.ResourceVersion()))
		_ = f.srv.Update(widget("b", "blue")) // an event that carries the stream past it
		f.sleepUntil(time.Minute, "healed", f.sees(f.guarded, "a", "blue"))
		if st := f.status(); st.Cures[freshness.Relist] != 1 {
			t.Errorf("cures %v; events:\n%s", st.Cures, f.log())
		}
		if f.sees(f.stock, "a", "blue")() {
			t.Error("the stock informer has it, too: no fault")
		}
	})
}
