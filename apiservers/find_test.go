// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package apiservers_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/freshwatch/freshwatch/apiservers"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/freshtest"
)

// usual is the address in the configs of freshtest.
const usual = "localhost:1"

// record returns a logger and what it is told.
func record() (logr.Logger, *[]string) {
	lines := new([]string)
	return funcr.New(func(_, args string) { *lines = append(*lines, args) }, funcr.Options{}), lines
}

func wantLines(t *testing.T, lines *[]string, want ...string) {
	t.Helper()
	ok := len(*lines) == len(want)
	for i := range want {
		ok = ok && strings.Contains((*lines)[i], want[i])
	}
	if !ok {
		t.Errorf("logged %q, want lines with %q", *lines, want)
	}
	*lines = nil
}

// TestAddressesFollowTheCluster goes through the life of an EndpointSlice.
func TestAddressesFollowTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, freshtest.Options{})
		log, lines := record()
		s := newServers(t, c.cfg, apiservers.Options{Logger: log})
		asked := func(want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, names(ask(t, s))); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		}
		later := func() { time.Sleep(apiservers.DefaultRefresh) }

		// Absent: the usual address is asked, over another connection.
		if diff := cmp.Diff([]freshness.ServerCache{where(usual, c.usual.ResourceVersion())}, ask(t, s)); diff != "" {
			t.Errorf("watch caches (-want +got):\n%s", diff)
		}
		wantLines(t, lines, "names no API server")
		c.name(t, "10.0.0.1")
		asked(usual) // not yet
		wantLines(t, lines)

		later()
		asked(one)
		wantLines(t, lines, "Only one API server")
		c.name(t, "10.0.0.2", "10.0.0.1")
		later()
		asked(one, two)
		wantLines(t, lines, "one by one")
		later()
		asked(one, two)
		wantLines(t, lines) // nothing new

		// Not readable: what was known stays, and is said once each time.
		outage := c.usual.Respond(endpointSlices, "", 503, 0)
		later()
		asked(one, two)
		wantLines(t, lines, "cannot be read again")
		asked(one, two)
		wantLines(t, lines)
		outage.Lift()
		c.name(t)
		later()
		asked(usual)
		wantLines(t, lines, "names no API server")

		if reads := c.usual.Requests(endpointSlices, ""); reads != 6 {
			t.Errorf("the addresses were read %d times, want 6", reads)
		}
	})
}

func TestFind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, freshtest.Options{})
		if _, err := apiservers.Find(t.Context(), c.cfg); !errors.Is(err, apiservers.ErrNotNamed) || !apierrors.IsNotFound(err) {
			t.Errorf("absent: %v", err)
		}
		c.name(t)
		if _, err := apiservers.Find(t.Context(), c.cfg); !errors.Is(err, apiservers.ErrNotNamed) {
			t.Errorf("empty: %v", err)
		}
		c.name(t, "10.0.0.2", "fd00::7", "10.0.0.1", "10.0.0.2")
		got, err := apiservers.Find(t.Context(), c.cfg)
		if diff := cmp.Diff([]string{one, two, "[fd00::7]:6443"}, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if _, err := apiservers.Find(t.Context(), nil); err == nil {
			t.Error("no error without a config")
		}
		for _, r := range c.usual.Log() {
			if r.Verb != "get" || r.Namespace != "default" || r.Name != "kubernetes" || r.ResourceVersion != "" {
				t.Errorf("sent %+v, want a read from the datastore", r)
			}
		}
		if open, _ := c.dialer.connections(); open != 0 {
			t.Errorf("%d connections are open", open)
		}
	})
}

// TestAddressesMustBeReadable covers a missing right, and that it is not for ever.
func TestAddressesMustBeReadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, freshtest.Options{})
		c.name(t, "10.0.0.1", "10.0.0.2")
		s := newServers(t, c.cfg, apiservers.Options{})
		revoked := c.usual.Deny(endpointSlices)
		_, err := s.WatchCaches(t.Context(), configMaps, "")
		if rights, ok := errors.AsType[*apiservers.RightsError](err); !ok || rights.Namespace != "default" {
			t.Errorf("got %v, want the right that is missing", err)
		}
		const rule = `add {apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], resourceNames: ["kubernetes"], verbs: ["get"]} to a Role in namespace default`
		if !strings.Contains(err.Error(), rule) {
			t.Errorf("%q does not say %q", err, rule)
		}
		revoked.Lift()
		if got := names(ask(t, s)); len(got) != 2 {
			t.Errorf("asked %q, want both", got)
		}
	})
}

// TestRightsToList covers the rule for a kind, in one namespace and in all.
func TestRightsToList(t *testing.T) {
	for _, test := range []struct{ namespace, want string }{
		{"", `add {apiGroups: [""], resources: ["configmaps"], verbs: ["list"]} to a ClusterRole`},
		{"default", `add {apiGroups: [""], resources: ["configmaps"], verbs: ["list"]} to a Role in namespace default`},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, freshtest.Options{})
			c.one.Deny(configMaps)
			got, err := newServers(t, c.cfg, apiservers.Options{Addresses: []string{one}}).WatchCaches(t.Context(), configMaps, test.namespace)
			for _, want := range []string{test.want, `cannot list resource "configmaps"`} { // the second is the server's
				if err != nil || got[0].Err == nil || !strings.Contains(got[0].Err.Error(), want) {
					t.Errorf("got %v, %v, want something with %q", got, err, want)
				}
			}
		})
	}
}
