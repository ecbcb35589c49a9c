// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/clock"

	"github.com/freshwatch/freshwatch/internal/restartlease"
)

const (
	// DefaultLease is the watch canary's, so that one Role serves both: this budget is in
	// another annotation of it.
	DefaultLease = "freshwatch-canary"
	// DefaultRestarts is how many restarts may be asked for within DefaultRestartWindow:
	// what three have not cured, a fourth will not.
	DefaultRestarts = 3
	// DefaultRestartWindow is long beside the 21 minutes and the back-off of the kubelet
	// after which a reconcile that wedges at every attempt asks for the next restart.
	DefaultRestartWindow = 24 * time.Hour

	maxRestartWindow = 90 * 24 * time.Hour
	wedgeAnnotation  = "freshwatch.github.io/wedge-restarts"
)

// RestartBudgetOptions configures a RestartBudget. The zero value is ready for use in a
// pod.
type RestartBudgetOptions struct {
	// Lease is the name of the Lease that remembers restarts. Every operator in a
	// namespace needs one of its own.
	//
	// Defaults to freshwatch-canary, which is package watchcanary's default too. It is made
	// where it is missing.
	Lease string

	// Namespace of the Lease.
	//
	// Defaults to the pod's own, read from the files of its ServiceAccount.
	Namespace string

	// Restarts is how many may be asked for within Window. Then no more are granted, until
	// the first of them is Window ago.
	//
	// Defaults to 3. At least 1, at most 32.
	Restarts int

	// Window is the time in which Restarts are counted.
	//
	// Defaults to 24h. At least 1m, at most 90 days. It bounds nothing unless it is longer
	// than Restarts times what lies between two restarts, Timeout, Grace and FailAfter;
	// NewDeadlines refuses one that is not.
	Window time.Duration

	// Clock is for tests.
	//
	// Defaults to the real clock.
	Clock clock.PassiveClock
}

func (o RestartBudgetOptions) withDefaults() (RestartBudgetOptions, error) {
	if o.Lease == "" {
		o.Lease = DefaultLease
	}
	if o.Restarts == 0 {
		o.Restarts = DefaultRestarts
	}
	if o.Window == 0 {
		o.Window = DefaultRestartWindow
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("reconcile: RestartBudgetOptions."+format, args...))
	}
	if text := validation.IsDNS1123Subdomain(o.Lease); len(text) > 0 {
		bad("Lease is %q, but must be an object's name: %s", o.Lease, text[0])
	}
	var err error
	if o.Namespace, err = restartlease.Namespace("reconcile: RestartBudgetOptions.Namespace", o.Namespace, restartlease.NamespaceFile); err != nil {
		errs = append(errs, err)
	} else if text := validation.IsDNS1123Label(o.Namespace); len(text) > 0 {
		bad("Namespace is %q, but must be a namespace's name: %s", o.Namespace, text[0])
	}
	if o.Restarts < 1 || o.Restarts > restartlease.RememberedAtMost {
		bad("Restarts is %d, but must be at least 1 and at most %d (DeadlineOptions.NeverFail has none)", o.Restarts, restartlease.RememberedAtMost)
	}
	if o.Window < time.Minute || o.Window > maxRestartWindow {
		bad("Window is %v, but must be at least %v and at most %v", o.Window, time.Minute, maxRestartWindow)
	}
	return o, errors.Join(errs...)
}

// clientSource is what a client is made from, as a manager.Manager.
type clientSource interface {
	GetConfig() *rest.Config
	GetHTTPClient() *http.Client
}

// RestartBudget is a Budget that remembers restarts in an annotation of a Lease,
// freshwatch.github.io/wedge-restarts, so that it survives the process. Whoever removes
// the annotation lets it begin anew, as after a release that mends the cause. Make one with
// NewRestartBudget. It is safe for concurrent use, and of several replicas too.
type RestartBudget struct {
	opts   RestartBudgetOptions
	client kubernetes.Interface
}

// NewRestartBudget returns a RestartBudget that uses the client of from, usually the
// manager. It fails if an option is out of range, naming it, its value and the rule, and
// sends nothing.
func NewRestartBudget(from clientSource, opts RestartBudgetOptions) (*RestartBudget, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if isNil(from) || from.GetConfig() == nil || from.GetHTTPClient() == nil {
		return nil, errors.New("reconcile: NewRestartBudget wants a manager, or what else has both a config and an HTTP client")
	}
	client, err := kubernetes.NewForConfigAndClient(from.GetConfig(), from.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("reconcile: %w", err)
	}
	return &RestartBudget{opts: opts, client: client}, nil
}

func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return v == nil || r.Kind() == reflect.Pointer && r.IsNil()
}

// String says what it allows, and where it remembers.
func (b *RestartBudget) String() string {
	return fmt.Sprintf("%d restarts in %v, as annotation %s of lease %s/%s has them", b.opts.Restarts, b.opts.Window, wedgeAnnotation, b.opts.Namespace, b.opts.Lease)
}

// Rules is what a RestartBudget needs in the namespace of its Lease. Where the Role of
// package watchcanary is bound for the same Lease, nothing has to be added.
func (b *RestartBudget) Rules() []rbacv1.PolicyRule {
	return restartlease.Rules(b.opts.Lease, "get", "update")
}

// Ask implements Budget: it notes the restart on the Lease, read live, and grants it
// once it is there.
func (b *RestartBudget) Ask(ctx context.Context, at time.Time) (granted bool, err error) {
	err = retry.OnError(retry.DefaultBackoff, changedMeanwhile, func() error {
		granted, err = b.note(ctx, at)
		return err
	})
	if apierrors.IsForbidden(err) {
		if rules, _ := b.missing(ctx); rules != "" {
			return false, fmt.Errorf("%s (%w)", rules, err)
		}
	}
	if err != nil {
		return false, fmt.Errorf("lease %s/%s: %w", b.opts.Namespace, b.opts.Lease, err)
	}
	return granted, nil
}

// changedMeanwhile tells whether somebody else has written, made or deleted the Lease.
func changedMeanwhile(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}

func (b *RestartBudget) note(ctx context.Context, at time.Time) (granted bool, err error) {
	leases := b.client.CoordinationV1().Leases(b.opts.Namespace)
	lease, err := leases.Get(ctx, b.opts.Lease, metav1.GetOptions{})
	missing := apierrors.IsNotFound(err)
	switch {
	case missing:
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: b.opts.Lease}}
	case err != nil:
		return false, err
	}
	now := b.opts.Clock.Now()
	had, _ := restartlease.Parse(lease.Annotations[wedgeAnnotation], now)
	if had.Has(at) {
		return true, nil // noted before, though nobody heard of it
	}
	if had = had.Since(now.Add(-b.opts.Window)); len(had) >= b.opts.Restarts {
		return false, nil
	}
	lease.Annotations = maps.Clone(lease.Annotations)
	if lease.Annotations == nil {
		lease.Annotations = map[string]string{}
	}
	lease.Annotations[wedgeAnnotation] = had.Add(at).String()
	if missing {
		lease, err = leases.Create(ctx, lease, metav1.CreateOptions{})
	} else {
		lease, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	}
	if err != nil {
		return false, err
	}
	if has, _ := restartlease.Parse(lease.Annotations[wedgeAnnotation], now); !has.Has(at) {
		return false, errors.New("it came back without the note: does something on the way change it?")
	}
	return true, nil
}

// missing returns what to add to the Role; "": nothing.
func (b *RestartBudget) missing(ctx context.Context) (string, error) {
	verbs, err := restartlease.Missing(ctx, b.client.AuthorizationV1().SelfSubjectAccessReviews(), b.opts.Namespace, b.opts.Lease, b.Rules())
	if err != nil || len(verbs) == 0 {
		return "", err
	}
	return restartlease.Lacking(verbs, b.opts.Namespace, b.opts.Lease, b.Rules()), nil
}
