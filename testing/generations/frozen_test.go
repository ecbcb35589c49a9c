// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package generations

import (
	"fmt"
	"os"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

const daemonSets = "daemonsets"

// slow tells whether there is time for more.
func slow() bool { return os.Getenv("FRESHWATCH_SLOW") != "" }

// The watch cache of one kind freezes, as when the datastore's watch dies. A restart of
// the controller does not help, as the tests beside this one show; its objects are read
// all the same.
func TestFrozenWatchCache(t *testing.T) {
	realplane.Test(t)
	p := sharedPlane.Get(t)
	count := 2
	if slow() {
		count = 260 // more than a page, whose continuation client-go asks for in vain for 44 s
	}
	names := p.createDaemonSets(t, count)
	w := watch(t, p.Config(), reconcile.GenerationKind{Object: &appsv1.DaemonSet{}})
	w.await(t, patience, "all is observed", w.caughtUp(daemonSets))

	before := len(w.logged("No object lags any more")) // a controller that has just started may have lagged
	frozen := p.Etcd.FreezeWatches("/registry/daemonsets/")
	defer frozen.Lift()
	for _, name := range names[count-2:] { // on the last page
		p.editDaemonSet(t, name)
	}
	// A read takes 6 s, and a minute where there is another page.
	named := w.await(t, 5*patience, "the lag is told", w.lags(daemonSets, names[count-1]))
	st := w.of(daemonSets)
	if st.Lagging != 2 || st.Objects != count || st.Err != nil {
		t.Errorf("%+v, want 2 of %d to lag", st, count)
	}
	first, err := p.secondPage(t)
	if !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		t.Errorf("a second page: %v, want that it is of no version that the watch cache will reach", err)
	}
	if lines := w.logged("No object lags any more"); len(lines) > before {
		t.Errorf("a lag is said to have ended: %q", lines)
	}
	frozen.Lift()
	caughtUp := w.await(t, patience, "all is observed again", w.caughtUp(daemonSets))
	figures(t, map[string]any{"objects": count, "namedAfter": named, "lag": st.Worst[0].String(), "firstPage": first, "caughtUpAfter": caughtUp})
}

// secondPage asks for DaemonSets in two pages, once each, and returns how long the first
// took and how the second failed.
func (p *plane) secondPage(t *testing.T) (first time.Duration, err error) {
	t.Helper()
	client := p.Typed.AppsV1().RESTClient()
	begin := time.Now()
	list := &appsv1.DaemonSetList{}
	if err := client.Get().Resource(daemonSets).Param("limit", "1").MaxRetries(0).Do(t.Context()).Into(list); err != nil {
		t.Fatal(err)
	}
	first = time.Since(begin)
	return first, client.Get().Resource(daemonSets).Param("limit", "1").Param("continue", list.Continue).MaxRetries(0).Do(t.Context()).Error()
}

// createDaemonSets creates so many, for which there are no nodes.
func (p *plane) createDaemonSets(t *testing.T, n int) []string {
	t.Helper()
	var names []string
	for i := range n {
		name := fmt.Sprintf("frozen-%03d", i)
		labels := map[string]string{"app": name}
		if _, err := p.Typed.AppsV1().DaemonSets(namespace).Create(t.Context(), &appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: appsv1.DaemonSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: podTemplate(labels),
			},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

func (p *plane) editDaemonSet(t *testing.T, name string) {
	t.Helper()
	patch := []byte(`{"spec":{"minReadySeconds":1}}`)
	if _, err := p.Typed.AppsV1().DaemonSets(namespace).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}
