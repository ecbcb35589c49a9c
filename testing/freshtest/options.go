// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
)

// DefaultFreshWait is how long kube-apiserver lets a read wait for its watch cache (blockTimeout in
// k8s.io/apiserver/pkg/storage/cacher, read at v0.37.2).
const DefaultFreshWait = 3 * time.Second

// DefaultToken is the bearer token that the server accepts when Options names none.
const DefaultToken = "freshtest"

// Options configures a Server. The zero value works.
type Options struct {
	// Clock drives all that the server times: watch timeouts, bookmarks, reads that wait. Defaults to the real clock,
	// which inside a testing/synctest bubble is the bubble's.
	Clock clock.WithTicker

	// Kinds are served besides the default ones: core configmaps, secrets, pods, events and namespaces, events.k8s.io
	// events and coordination.k8s.io leases. A kind given here replaces a default with the same group and resource.
	Kinds []Kind

	// Scheme tells the Go types of objects handed to Create, Update and Delete, and of request bodies in protobuf.
	// Defaults to client-go's; unstructured objects need none.
	Scheme *runtime.Scheme

	// Token is the bearer token that requests must carry; others are answered with 401. Defaults to DefaultToken.
	Token string

	// FreshWait is how long a read waits for a watch cache that is behind the resourceVersion it asks for, before it
	// is answered with 504 "Too large resource version". Defaults to DefaultFreshWait. Negative is refused.
	FreshWait time.Duration

	// ProgressDelay is how long a consistent read waits for a watch cache that is behind, though healthy. Defaults to
	// none, so that tests on the real clock stay fast; kube-apiserver asks etcd for progress every 100 ms while a read
	// waits, so that one takes up to about 125 ms. Must be below FreshWait. Negative is refused.
	ProgressDelay time.Duration

	// ProgressNotify is how often etcd tells every watch cache how far it is without being asked
	// (--watch-progress-notify-interval: 10 min by etcd's default, 5 s where kubeadm set it). Defaults to never, so that
	// the watch cache of a quiet kind stays where it is until a read moves it. Negative is refused.
	ProgressNotify time.Duration

	// RejectStaleLists makes a consistent LIST end in 429 when the watch cache has not caught up within FreshWait, as
	// with kube-apiserver's feature gate ConsistentListFromCacheSkipTimeoutFallback. By default it is then answered
	// from etcd: fresh, but late.
	RejectStaleLists bool

	// Errorf is told of misuse that would make a test pass for the wrong reason, such as a fault on a kind that the
	// server does not serve. Start sets it to the test's Errorf. Defaults to nothing.
	Errorf func(format string, args ...any)
}

// withDefaults returns the options completed, or an error that names the field, its value and the rule.
func (o Options) withDefaults() (Options, error) {
	for _, field := range []struct {
		name  string
		value time.Duration
	}{{"FreshWait", o.FreshWait}, {"ProgressDelay", o.ProgressDelay}, {"ProgressNotify", o.ProgressNotify}} {
		if field.value < 0 {
			return o, fmt.Errorf("freshtest: %s is %v, but must not be negative", field.name, field.value)
		}
	}
	if o.FreshWait == 0 {
		o.FreshWait = DefaultFreshWait
	}
	if o.ProgressDelay >= o.FreshWait {
		return o, fmt.Errorf("freshtest: ProgressDelay is %v, but must be below FreshWait, which is %v",
			o.ProgressDelay, o.FreshWait)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Scheme == nil {
		o.Scheme = scheme.Scheme
	}
	if o.Token == "" {
		o.Token = DefaultToken
	}
	if o.Errorf == nil {
		o.Errorf = func(string, ...any) {}
	}
	kinds, err := mergeKinds(o.Kinds)
	o.Kinds = kinds
	return o, err
}

// mergeKinds returns the default kinds and the given ones.
func mergeKinds(given []Kind) ([]Kind, error) {
	seen := map[schema.GroupResource]bool{}
	for _, k := range given {
		if err := k.validate(); err != nil {
			return nil, fmt.Errorf("freshtest: Kinds: %w", err)
		}
		if gr := k.groupResource(); seen[gr] {
			return nil, fmt.Errorf("freshtest: Kinds has %s twice, but every resource is served in one version", gr)
		}
		seen[k.groupResource()] = true
	}
	kinds := slices.DeleteFunc(defaultKinds(), func(k Kind) bool { return seen[k.groupResource()] })
	return append(kinds, given...), nil
}
