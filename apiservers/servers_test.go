// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/freshwatch/freshwatch/apiservers"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
	"github.com/freshwatch/freshwatch/transport"
)

// TestFrozenServerIsNamed covers both answers that a server has to a consistent
// read while its watch cache is frozen: the datastore's, and 429.
func TestFrozenServerIsNamed(t *testing.T) {
	for _, options := range []freshtest.Options{{}, {RejectStaleLists: true}} {
		t.Run(fmt.Sprintf("refuses consistent lists: %t", options.RejectStaleLists), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, options)
				c.name(t, "10.0.0.1", "10.0.0.2")
				s := newServers(t, c.cfg, apiservers.Options{})
				before := ask(t, s)
				frozen := c.two.FreezeWatchCache(configMaps)
				if err := c.write(1); err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				want := []freshness.ServerCache{where(one, c.one.ResourceVersion()), before[1]}
				if diff := cmp.Diff(want, ask(t, s)); diff != "" {
					t.Errorf("watch caches (-want +got):\n%s", diff)
				}
				if took := time.Since(begin); took != freshtest.DefaultFreshWait {
					t.Errorf("took %v, want %v", took, freshtest.DefaultFreshWait)
				}
				frozen.Lift()
				want[1] = where(two, c.two.ResourceVersion())
				if diff := cmp.Diff(want, ask(t, s)); diff != "" {
					t.Errorf("watch caches, thawed (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestQuietKindCatchesUp is the control: caches of a kind that nobody changes or
// reads are behind, in health, until they are asked.
func TestQuietKindCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, freshtest.Options{ProgressDelay: 100 * time.Millisecond})
		s := newServers(t, c.cfg, apiservers.Options{Addresses: []string{one, two}})
		c.one.Bump(10)
		c.two.Bump(20)
		if c.one.WatchCacheResourceVersion(configMaps) == c.one.ResourceVersion() {
			t.Fatal("the cache is not behind before it is asked")
		}
		want := []freshness.ServerCache{where(one, c.one.ResourceVersion()), where(two, c.two.ResourceVersion())}
		if diff := cmp.Diff(want, ask(t, s)); diff != "" {
			t.Errorf("watch caches (-want +got):\n%s", diff)
		}
	})
}

// TestWhatKeepsOneServerFromAnswering lets the second fail in many ways. The first
// answers all the same, the second is asked once, and nothing takes longer than the
// timeout.
func TestWhatKeepsOneServerFromAnswering(t *testing.T) {
	isRights := func(err error) bool {
		_, ok := errors.AsType[*apiservers.RightsError](err)
		return ok && apierrors.IsForbidden(err)
	}
	says := func(text string) func(error) bool {
		return func(err error) bool { return err != nil && strings.Contains(err.Error(), text) }
	}
	respond := func(code int) func(cluster) {
		return func(c cluster) { c.two.Respond(configMaps, "list", code, 0) }
	}
	for _, test := range []struct {
		name     string
		arrange  func(c cluster)
		is       func(error) bool
		requests int
		took     time.Duration
	}{
		{"forbidden", func(c cluster) { c.two.Deny(configMaps) }, isRights, 1, 0},
		{"unauthorized", respond(401), apierrors.IsUnauthorized, 1, 0},
		{"not served", respond(404), apierrors.IsNotFound, 1, 0},
		{"busy, asks to retry", respond(429), apierrors.IsTooManyRequests, 1, 0},
		{"broken", respond(500), apierrors.IsInternalError, 1, 0},
		{"stopping", respond(503), apierrors.IsServiceUnavailable, 1, 0},
		{"broken halfway", func(c cluster) { c.two.Respond(configMaps, "list", 500, 1) }, apierrors.IsInternalError, 1, 0},
		{"refuses connections", func(c cluster) { c.two.Refuse() }, says("refused"), 0, 0},
		{"silent", func(c cluster) { c.dialer.routes[two] = silent }, says("no answer within 5s"), 0, 5 * time.Second},
		{"unreachable", func(c cluster) {
			c.dialer.routes[two] = func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
		}, says("no answer within 5s"), 0, 5 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, freshtest.Options{})
				test.arrange(c)
				s := newServers(t, c.cfg, apiservers.Options{Addresses: []string{one, two}, Timeout: 5 * time.Second})
				begin := time.Now()
				got := ask(t, s)
				if diff := cmp.Diff(where(one, c.one.ResourceVersion()), got[0]); diff != "" {
					t.Errorf("the healthy server (-want +got):\n%s", diff)
				}
				if got[1].Server != two || got[1].ResourceVersion != "" || !test.is(got[1].Err) {
					t.Errorf("the other: %+v", got[1])
				}
				if n := c.two.Requests(configMaps, ""); n != test.requests {
					t.Errorf("it got %d requests, want %d", n, test.requests)
				}
				if took := time.Since(begin); took != test.took {
					t.Errorf("took %v, want %v", took, test.took)
				}
			})
		})
	}
}

// TestTwoEmptyLists pins what is sent: one that makes the cache catch up, and one
// from the cache.
func TestTwoEmptyLists(t *testing.T) {
	for _, test := range []struct {
		name      string
		gvr       schema.GroupVersionResource
		namespace string
		arrange   func(c cluster)
		want      []string
	}{
		{"all namespaces", configMaps, "", nil, []string{"/api/v1/configmaps", "/api/v1/configmaps at 0"}},
		{"one namespace", configMaps, "default", nil, []string{"/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/configmaps at 0"}},
		{"a group", endpointSlices, "", nil, []string{"/apis/discovery.k8s.io/v1/endpointslices", "/apis/discovery.k8s.io/v1/endpointslices at 0"}},
		{"a kind that does not know metadata.namespace", namespaces, "", func(c cluster) { c.one.Respond(namespaces, "list", 400, 1) },
			[]string{"/api/v1/namespaces", "/api/v1/namespaces", "/api/v1/namespaces at 0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, freshtest.Options{})
				if test.arrange != nil {
					test.arrange(c)
				}
				s := newServers(t, c.cfg, apiservers.Options{Addresses: []string{one}})
				got, err := s.WatchCaches(t.Context(), test.gvr, test.namespace)
				if err != nil || got[0].Err != nil || got[0].ResourceVersion == "" {
					t.Errorf("got %v, %v", got, err)
				}
				var sent []string
				for _, r := range c.one.Log() {
					line := r.Path
					if r.ResourceVersion != "" {
						line += " at " + r.ResourceVersion
					}
					sent = append(sent, line)
					if r.Verb != "list" || r.ResourceVersionMatch != "" || r.Limit != 1 {
						t.Errorf("sent %+v", r)
					}
				}
				if diff := cmp.Diff(test.want, sent); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestAConnectionOfItsOwn holds each question to one connection per server, which
// is neither that of the config's other clients nor there afterwards.
func TestAConnectionOfItsOwn(t *testing.T) {
	for _, wrapped := range []bool{false, true} {
		t.Run(fmt.Sprintf("wrapped by transport: %t", wrapped), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, freshtest.Options{})
				if wrapped {
					if _, err := transport.Wrap(c.cfg, transport.Options{}); err != nil {
						t.Fatal(err)
					}
				}
				s := newServers(t, c.cfg, apiservers.Options{Addresses: []string{one, two}})
				for range 3 {
					for _, cache := range ask(t, s) {
						if cache.Err != nil {
							t.Error(cache.Err)
						}
					}
					if open, _ := c.dialer.connections(); open != 0 {
						t.Errorf("%d connections are open", open)
					}
				}
				for _, srv := range []*freshtest.Server{c.one, c.two} {
					if n := srv.Connections(); n != 3 {
						t.Errorf("%d connections for 3 questions", n)
					}
				}
			})
		})
	}
}

// TestTenAtOnce asks 25 servers that do not answer, for two kinds at a time.
func TestTenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, freshtest.Options{})
		c.dialer.fallback = silent
		var addresses []string
		for i := range 25 {
			addresses = append(addresses, fmt.Sprintf("10.0.1.%d:6443", i))
		}
		s := newServers(t, c.cfg, apiservers.Options{Addresses: addresses})
		begin := time.Now()
		other := make(chan struct{})
		go func() {
			defer close(other)
			if _, err := s.WatchCaches(t.Context(), namespaces, ""); err != nil {
				t.Error(err)
			}
		}()
		got := ask(t, s)
		<-other
		if diff := cmp.Diff(addresses, names(got)); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		if open, most := c.dialer.connections(); open != 0 || most != 10 {
			t.Errorf("%d connections are open, and there were up to %d, want 0 and 10", open, most)
		}
		if took := time.Since(begin); took != 5*apiservers.DefaultTimeout {
			t.Errorf("50 questions took %v, want %v", took, 5*apiservers.DefaultTimeout)
		}
	})
}

func TestContextEndsTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, freshtest.Options{})
		c.dialer.fallback = silent
		addresses := make([]string, 12) // more than are asked at once
		for i := range addresses {
			addresses[i] = fmt.Sprintf("10.0.1.%d:6443", i)
		}
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		got, err := newServers(t, c.cfg, apiservers.Options{Addresses: addresses}).WatchCaches(ctx, configMaps, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, cache := range got {
			if !errors.Is(cache.Err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", cache.Server, cache.Err)
			}
		}
		if took := time.Since(begin); took != time.Second {
			t.Errorf("took %v", took)
		}
		if open, _ := c.dialer.connections(); open != 0 {
			t.Errorf("%d connections are open", open)
		}
		// The same where the addresses are not known yet.
		_, err = newServers(t, c.cfg, apiservers.Options{}).WatchCaches(ctx, configMaps, "")
		if diff := cmp.Diff(context.DeadlineExceeded, err, cmpopts.EquateErrors()); diff != "" {
			t.Errorf("error (-want +got):\n%s", diff)
		}
	})
}
