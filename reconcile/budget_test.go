// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// newBudget returns a budget of two restarts an hour, and the API server that it is kept
// on.
func newBudget(t *testing.T, objs ...runtime.Object) (*RestartBudget, *fake.Clientset) {
	t.Helper()
	b, err := NewRestartBudget(&fakeManager{}, RestartBudgetOptions{Namespace: "ns", Restarts: 2, Window: time.Hour, Clock: clocktesting.NewFakePassiveClock(noon)})
	if err != nil {
		t.Fatal(err)
	}
	client := fake.NewClientset(objs...)
	b.client = client
	return b, client
}

func leaseWith(annotations map[string]string) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: DefaultLease, Annotations: annotations},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("canary")},
	}
}

func noted(t *testing.T, client *fake.Clientset) string {
	t.Helper()
	lease, err := client.CoordinationV1().Leases("ns").Get(t.Context(), DefaultLease, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return lease.Annotations[wedgeAnnotation]
}

func TestRestartBudget(t *testing.T) {
	tests := []struct {
		name    string
		objs    []runtime.Object
		granted bool
		noted   string
	}{
		{"no Lease", nil, true, "2026-01-02T12:00:00Z"},
		{"no restarts", []runtime.Object{leaseWith(nil)}, true, "2026-01-02T12:00:00Z"},
		{"one before", []runtime.Object{leaseWith(map[string]string{wedgeAnnotation: "2026-01-02T11:30:00Z"})}, true, "2026-01-02T11:30:00Z,2026-01-02T12:00:00Z"},
		{"as many as allowed", []runtime.Object{leaseWith(map[string]string{wedgeAnnotation: "2026-01-02T11:00:00Z,2026-01-02T11:30:00Z"})}, false, "2026-01-02T11:00:00Z,2026-01-02T11:30:00Z"},
		{"one of them a window ago", []runtime.Object{leaseWith(map[string]string{wedgeAnnotation: "2026-01-02T10:59:59Z,2026-01-02T11:30:00Z"})}, true, "2026-01-02T11:30:00Z,2026-01-02T12:00:00Z"},
		{"this one already", []runtime.Object{leaseWith(map[string]string{wedgeAnnotation: "2026-01-02T11:30:00Z,2026-01-02T12:00:00Z"})}, true, "2026-01-02T11:30:00Z,2026-01-02T12:00:00Z"},
		{"garbage", []runtime.Object{leaseWith(map[string]string{wedgeAnnotation: "x,2999-01-01T00:00:00Z"})}, true, "2026-01-02T12:00:00Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, client := newBudget(t, tt.objs...)
			granted, err := b.Ask(t.Context(), noon)
			if granted != tt.granted || err != nil {
				t.Errorf("granted %v, error %v; want %v", granted, err, tt.granted)
			}
			if got := noted(t, client); got != tt.noted {
				t.Errorf("noted %q, want %q", got, tt.noted)
			}
		})
	}
}

// What others keep on the Lease stays.
func TestRestartBudgetKeepsTheRest(t *testing.T) {
	b, client := newBudget(t, leaseWith(map[string]string{"freshwatch.github.io/restarts": "2026-01-02T11:00:00Z"}))
	if granted, err := b.Ask(t.Context(), noon); !granted || err != nil {
		t.Fatalf("granted %v, error %v", granted, err)
	}
	lease, err := client.CoordinationV1().Leases("ns").Get(t.Context(), DefaultLease, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(lease.Annotations) != 2 || *lease.Spec.HolderIdentity != "canary" {
		t.Errorf("lease %+v", lease)
	}
}

// Somebody else who writes the Lease at the same time is no reason to give up; one who
// always does is.
func TestRestartBudgetConflicts(t *testing.T) {
	for conflicts, ok := range map[int]bool{2: true, 100: false} {
		b, client := newBudget(t, leaseWith(nil))
		n := 0
		client.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			n++
			return n <= conflicts, nil, apierrors.NewConflict(coordinationv1.Resource("leases"), DefaultLease, errors.New("changed"))
		})
		granted, err := b.Ask(t.Context(), noon)
		if granted != ok || (err == nil) != ok || n > 10 {
			t.Errorf("%d conflicts: granted %v, error %v, after %d writes", conflicts, granted, err, n)
		}
		if !ok && !strings.HasPrefix(err.Error(), "lease ns/freshwatch-canary: ") {
			t.Errorf("error %q, want it to name the Lease", err)
		}
	}
}

// What cannot be noted is not granted.
func TestRestartBudgetCannotNote(t *testing.T) {
	forbidden := apierrors.NewForbidden(coordinationv1.Resource("leases"), DefaultLease, errors.New("no"))
	for _, verb := range []string{"get", "create"} {
		b, client := newBudget(t)
		client.PrependReactor(verb, "leases", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, forbidden })
		if granted, err := b.Ask(t.Context(), noon); granted || !apierrors.IsForbidden(err) {
			t.Errorf("%s is forbidden: granted %v, error %v", verb, granted, err)
		}
	}
	b, client := newBudget(t, leaseWith(nil))
	client.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) { return true, leaseWith(nil), nil })
	if granted, err := b.Ask(t.Context(), noon); granted || err == nil || !strings.Contains(err.Error(), "without the note") {
		t.Errorf("the note was taken off: granted %v, error %v", granted, err)
	}
}

// What is missing is said where it is needed, not at the start alone.
func TestRestartBudgetNamesRules(t *testing.T) {
	b, client := newBudget(t, leaseWith(nil))
	client.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(coordinationv1.Resource("leases"), DefaultLease, errors.New("no"))
	})
	client.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview)
		review.Status.Allowed = review.Spec.ResourceAttributes.Verb != "update"
		return true, review, nil
	})
	_, err := b.Ask(t.Context(), noon)
	if want := `this process may not update leases.coordination.k8s.io "freshwatch-canary" in namespace "ns": add to its Role there the rules [{`; !strings.HasPrefix(text(err), want) {
		t.Errorf("error %q, want it to begin with %q", text(err), want)
	}
}

// Nobody there: the answer is an error in time.
func TestRestartBudgetUnreachable(t *testing.T) {
	b, err := NewRestartBudget(&fakeManager{}, inDefault)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), askTimeout)
	defer cancel()
	if granted, err := b.Ask(ctx, noon); granted || err == nil {
		t.Errorf("granted %v, error %v", granted, err)
	}
}

func TestRestartBudgetRules(t *testing.T) {
	b, _ := newBudget(t)
	var got []string
	for _, r := range b.Rules() {
		got = append(got, strings.Join(r.Verbs, " ")+" "+strings.Join(r.ResourceNames, ""))
	}
	if want := "create ;get update freshwatch-canary"; strings.Join(got, ";") != want {
		t.Errorf("rules %q, want %q", strings.Join(got, ";"), want)
	}
}

// A question that could not be asked for long is judged by the present, not by when it was
// put: what others have noted since counts, and stays.
func TestRestartBudgetOldQuestion(t *testing.T) {
	const others = "2026-01-02T11:50:00Z,2026-01-02T11:55:00Z"
	b, client := newBudget(t, leaseWith(map[string]string{wedgeAnnotation: others}))
	if granted, err := b.Ask(t.Context(), noon.Add(-time.Hour)); granted || err != nil {
		t.Errorf("granted %v, error %v; want it refused", granted, err)
	}
	if got := noted(t, client); got != others {
		t.Errorf("noted %q, want %q", got, others)
	}
}

// Two replicas that ask in the same second are two.
func TestRestartBudgetSameSecond(t *testing.T) {
	b, client := newBudget(t)
	for i, want := range []bool{true, true, false} {
		if granted, err := b.Ask(t.Context(), noon.Add(time.Duration(i)*time.Millisecond)); granted != want || err != nil {
			t.Errorf("question %d: granted %v, error %v; want %v", i, granted, err, want)
		}
	}
	if got, want := noted(t, client), "2026-01-02T12:00:00Z,2026-01-02T12:00:00.001Z"; got != want {
		t.Errorf("noted %q, want %q", got, want)
	}
}

// What wedges for longer than the window has its restart once the others are out of it.
func TestRestartBudgetWindowPasses(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(noon)
	b, _ := newBudget(t, leaseWith(map[string]string{wedgeAnnotation: "2026-01-02T11:30:00Z,2026-01-02T11:40:00Z"}))
	b.opts.Clock = clock
	if granted, err := b.Ask(t.Context(), noon); granted || err != nil {
		t.Errorf("granted %v, error %v; want it refused", granted, err)
	}
	clock.SetTime(noon.Add(31 * time.Minute))
	if granted, err := b.Ask(t.Context(), noon.Add(31*time.Minute)); !granted || err != nil {
		t.Errorf("granted %v, error %v; want it granted", granted, err)
	}
}
