// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconciles

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

// A client that reads its own writes waits for the informer to show them. The informer's
// watch is dead, so that nothing ever does: each reconcile that writes hangs at its next
// read, while writes go on. With a deadline it is tried again, until the stream is.
func TestOwnWritesOfADeadInformer(t *testing.T) {
	realplane.Test(t)
	for name, n := range map[string]int{"one worker": 1, "several workers": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharedPlane.Get(t)
			ns := newNamespace(t, p)
			cfg, api, tcp := proxied(t, p, p.Config())
			o := newOperator(t, p, operatorOptions{ns: ns, config: cfg, manager: func(m *manager.Options) {
				m.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}
			}})
			w := o.add(t, "guarded", workers(n), writeAndRead(o.mgr.GetClient(), "guarded"))
			without := o.addWithoutDeadline(t, "unguarded", workers(n), writeAndRead(o.mgr.GetClient(), "unguarded"))
			o.start(t)
			edit(t.Context(), t, p, ns, stuck, "first")
			await(t, patience, "both are through", func() bool { return w.through("first") && without.through("first") })
			c := o.serve(t, p, w)
			await(t, patience, "customers are served", func() bool { return len(c.all()) >= customersAtOnce })

			dead := api.Inject(faultproxy.Match{Verb: "watch", Resource: "secrets", Namespace: ns}, faultproxy.Silence{OnlyOpen: true})
			if dead.Hits() != 1 {
				t.Errorf("silenced %d watches, want 1", dead.Hits())
			}
			before, beforeWithout := len(w.tried(stuck)), len(without.tried(stuck))
			written := api.Counts(faultproxy.Match{Verb: "patch", Resource: "secrets"}).Requests
			edit(t.Context(), t, p, ns, stuck, "second")
			await(t, patience, "overruns", func() bool { return len(w.returned()) >= before+control && len(without.tried(stuck)) > beforeWithout })
			hung := w.returned()[before : before+control]
			if tries := without.tried(stuck)[beforeWithout:]; len(tries) != 1 || !tries[0].ended.IsZero() {
				t.Errorf("without a deadline %+v, want one reconcile that hangs", tries)
			}
			written = api.Counts(faultproxy.Match{Verb: "patch", Resource: "secrets"}).Requests - written
			tcp.Reset() // a dead stream ends with its connection at last
			await(t, patience, "success", func() bool { return w.through("second") && without.through("second") })
			c.stop()

			wantCut(t, hung)
			if got := hung[0].err.Error(); !strings.Contains(got, "context deadline exceeded") {
				t.Errorf("the read ended with %q", got)
			}
			held := without.wantHung(t, beforeWithout, hung)
			c.wantServed(t, n, hung...)
			w.wantOneAtOnce(t)
			o.wantIdle(t)
			longest, served := c.longest(hung[0].began)
			figures(t, map[string]any{
				"overrunAfter": hung[0].took(), "error": hung[0].err.Error(), "withoutDeadlineHangsFor": held, "writesMeanwhile": written,
				"overruns": o.own(t, "deadline_overruns_total", w.controller), "longestWaitOfOthers": longest, "othersServed": served,
			})
		})
	}
}

// through tells whether a content of the object called stuck was reconciled to the end.
func (w *worker) through(content string) bool {
	a := w.tried(stuck)
	return w.sees(stuck) == content && len(a) > 0 && !a[len(a)-1].ended.IsZero() && a[len(a)-1].err == nil
}

// writeAndRead writes a Secret, and reads it back through the cache.
func writeAndRead(c client.Client, name string) act {
	return func(ctx context.Context, cm *corev1.ConfigMap) error {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cm.Namespace, Name: name}}
		if err := client.IgnoreAlreadyExists(c.Create(ctx, s.DeepCopy())); err != nil {
			return err
		}
		// New each time, since a write that changes nothing is no write.
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{"at":"%d"}}}`, time.Now().UnixNano()))
		if err := c.Patch(ctx, s, patch); err != nil {
			return err
		}
		return c.Get(ctx, client.ObjectKeyFromObject(s), &corev1.Secret{})
	}
}

// proxied returns base through an API proxy with a TCP proxy in front of it.
func proxied(t *testing.T, p *realplane.Plane, base *rest.Config) (*rest.Config, *faultproxy.API, *faultproxy.TCP) {
	t.Helper()
	api, err := faultproxy.NewAPI(p.Config(), faultproxy.APIOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	tcp, err := faultproxy.NewTCP(api.Addr(), faultproxy.TCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tcp.Close() })
	cfg := api.Config(base)
	cfg.Host = "https://" + tcp.Addr()
	return cfg, api, tcp
}
