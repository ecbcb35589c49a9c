// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// writesBeforeRestore is how far resourceVersions go back: more than the API
// server writes by itself until the guard has noticed.
const writesBeforeRestore = 1000

// ownServer is a real control plane for one scenario, which may restart it. What
// reflectors make of a restart depends on how their connections end and what
// answers then: a proxy that speaks HTTP in the server's place makes them relist,
// and so does a server that has not read its RBAC rules yet. Here connections end
// as the server's own do, and new ones are refused until the server is ready, so
// that reflectors resume from a resourceVersion which the server has yet to reach.
type ownServer struct {
	*server
	lb     *faultproxy.TCP // in front of the API server itself
	backup *controlplane.Checkpoint
}

func newOwnServer(t *testing.T, k kind, test string) *ownServer {
	t.Helper()
	s := &ownServer{server: newServer(t, ownPlane(t), k, test)}
	s.lb = startTCP(t, strings.TrimPrefix(s.plane.APIServerURL(), "https://"))
	return s
}

func (s *ownServer) config(agent string) *rest.Config {
	cfg := rest.CopyConfig(s.user)
	cfg.Host = "https://" + s.lb.Addr()
	return s.watch(cfg, agent)
}

func (s *ownServer) requests(agent string) int64 { return s.meter.requests(agent) }

func (s *ownServer) refilled(agent string) int64 { return s.meter.refilled(agent) }

func (s *ownServer) backUp(t testing.TB) {
	t.Helper()
	var err error
	if s.backup, err = s.plane.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range writesBeforeRestore {
		s.plane.put(t, configMaps.object(s.ns, "elsewhere", fmt.Sprint(i)), configMaps)
	}
}

func (s *ownServer) restore(t testing.TB) func() {
	t.Helper()
	accept := refuseNew(t, s.lb)
	if err := s.plane.Rewind(t.Context(), s.backup); err != nil {
		t.Fatal(err)
	}
	s.awaitPermission(t)
	accept()
	return nil
}
