// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package managers

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/freshwatch/freshwatch/freshness"
)

// A cache may have several informers of one kind: typed, unstructured, of metadata.
// What is asked about the kind is answered with the worst that is known: that one of
// them has not synced yet does not hide that the other is stalled, nor how old its
// newest proof is.
func TestStatusOfIsTheWorst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, mgr, m := started(t, noCures())
		informers(t, mgr.GetCache(), &corev1.ConfigMap{})
		pass(2*time.Minute, srv)
		srv.Stall(configMaps)
		srv.WithholdInitialEventsEnd(configMaps)
		other := &unstructured.Unstructured{}
		other.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		if _, err := mgr.GetCache().GetInformer(t.Context(), other, cache.BlockUntilSynced(false)); err != nil {
			t.Fatal(err)
		}
		pass(150*time.Second, srv)
		of := freshness.Informer{Resource: "configmaps"}
		if st, found := m.StatusOf(of); !found || st.Verdict != freshness.Stalled {
			t.Errorf("%v (%s), want Stalled; all: %v", st.Verdict, st.Reason, verdictsOf(m, of))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := m.EnsureFresh(ctx, of, time.Hour); err == nil {
			t.Error("proven, though one has not synced yet")
		}
	})
}

// verdictsOf are those of all informers of a resource.
func verdictsOf(m *freshness.Monitor, of freshness.Informer) (out []freshness.Verdict) {
	for _, st := range m.Status() {
		if st.Informer.Group == of.Group && st.Informer.Resource == of.Resource {
			out = append(out, st.Verdict)
		}
	}
	return out
}

// Three informers of one kind are three to the monitor, and one series.
func TestRepresentations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, mgr, m := started(t, freshness.Options{})
		gvk := corev1.SchemeGroupVersion.WithKind("ConfigMap")
		anything, metadata := &unstructured.Unstructured{}, &metav1.PartialObjectMetadata{}
		anything.SetGroupVersionKind(gvk)
		metadata.SetGroupVersionKind(gvk)
		informers(t, mgr.GetCache(), &corev1.ConfigMap{}, anything, metadata)
		pass(3*time.Minute, srv)
		of := freshness.Informer{Resource: "configmaps"}
		if got := verdictsOf(m, of); len(got) != 3 {
			t.Errorf("verdicts %v, want three", got)
		}
		for _, v := range verdictsOf(m, of) {
			if v != freshness.Fresh {
				t.Errorf("%v, want Fresh", v)
			}
		}
		wantSeries(t, registered(t, m), "resource=configmaps ", "resource=secrets ")
		// The server goes first: see Limits in package freshtest.
		srv.Close()
		synctest.Wait()
	})
}
