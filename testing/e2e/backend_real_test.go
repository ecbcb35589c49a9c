// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
)

// server is a real control plane, reached through proxies of its own.
type server struct {
	meter
	plane *plane
	kind  kind
	ns    string
	user  *rest.Config
	tcp   *faultproxy.TCP // in front of api
	api   *faultproxy.API
}

func newServer(t *testing.T, p *plane, k kind, test string) *server {
	t.Helper()
	s := &server{plane: p, kind: k, ns: p.namespace(t, word(test))}
	p.serve(t, k)
	s.api = startAPI(t, p)
	s.tcp = startTCP(t, s.api.Addr())
	s.permit(t, "list", "watch")
	s.user = s.newUser(t)
	s.awaitPermission(t)
	return s
}

func startAPI(t *testing.T, p *plane) *faultproxy.API {
	t.Helper()
	api, err := faultproxy.NewAPI(p.Config(), faultproxy.APIOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	return api
}

func startTCP(t *testing.T, target string) *faultproxy.TCP {
	t.Helper()
	tcp, err := faultproxy.NewTCP(target, faultproxy.TCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tcp.Close() })
	return tcp
}

// permit gives the informers' user these rights on the kind, and no others.
func (s *server) permit(t testing.TB, verbs ...string) {
	t.Helper()
	_, err := s.plane.Typed.RbacV1().Roles(s.ns).Update(t.Context(), &rbacv1.Role{ // creates it, too
		ObjectMeta: metav1.ObjectMeta{Name: "informer"},
		Rules:      []rbacv1.PolicyRule{{Verbs: verbs, APIGroups: []string{s.kind.group}, Resources: []string{s.kind.resource()}}},
	}, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// newUser returns a user who may do what permit says.
func (s *server) newUser(t testing.TB) *rest.Config {
	t.Helper()
	_, err := s.plane.Typed.RbacV1().RoleBindings(s.ns).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "informer"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "informer"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: s.ns}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	user, err := s.plane.User(s.ns)
	if err != nil {
		t.Fatal(err)
	}
	return user
}

// awaitPermission waits until the API server knows of it.
func (s *server) awaitPermission(t testing.TB) {
	t.Helper()
	client := dynamicClient(t, s.user).Resource(s.kind.gvr()).Namespace(s.ns)
	var err error
	permitted := func() bool {
		_, err = client.List(t.Context(), metav1.ListOptions{Limit: 1})
		return err == nil
	}
	if !poll.Until(t.Context(), patience, permitted) {
		t.Fatalf("the informers' user cannot list %s: %v", s.kind.resource(), err)
	}
}

func (s *server) name() string { return serverName() }

func (s *server) namespace() string { return s.ns }

func (s *server) admin() dynamic.Interface { return s.plane.dynamic }

func (s *server) put(t testing.TB, name, color string) {
	t.Helper()
	s.plane.put(t, s.kind.object(s.ns, name, color), s.kind)
}

func (s *server) config(agent string) *rest.Config {
	cfg := s.api.Config(s.user)
	cfg.Host = "https://" + s.tcp.Addr()
	return s.watch(cfg, agent)
}

// match selects the informers' requests.
func (s *server) match(verb string) faultproxy.Match {
	m := faultproxy.Match{Verb: verb, Group: s.kind.group, Resource: s.kind.resource(), Namespace: s.ns}
	if m.Group == "" {
		m.Group = "core"
	}
	return m
}

func (s *server) requests(agent string) int64 {
	return s.api.Counts(faultproxy.Match{UserAgent: agent}).Requests
}

func (s *server) refilled(agent string) int64 {
	return refilled(s.api, faultproxy.Match{UserAgent: agent}, time.Time{})
}

// refilled returns how many objects were sent to fill caches since a moment. With
// limit=1 it is a proof, though one may find an object where an informer's
// selector takes the place of its own.
func refilled(api *faultproxy.API, m faultproxy.Match, since time.Time) int64 {
	var n int64
	for _, r := range api.Requests(m) {
		if r.Limit != 1 && !r.Start.Before(since) {
			n += r.Objects + r.InitialObjects
		}
	}
	return n
}

func (s *server) silence(t testing.TB) func() {
	t.Helper()
	f := s.api.Inject(s.match("watch"), faultproxy.Silence{OnlyOpen: true})
	if f.Hits() != 2 {
		t.Errorf("silenced %d streams, want 2, guarded and stock", f.Hits())
	}
	return f.Lift
}

func (s *server) freezeWatchCache(testing.TB) func() {
	return s.plane.Etcd.FreezeWatches(s.kind.etcdPrefix()).Lift
}

func (s *server) withholdInitialEnd(testing.TB) func() {
	return s.api.Inject(s.match("watch"), faultproxy.WithholdInitialEventsEnd{}).Lift
}

func (s *server) withholdBookmarks(testing.TB) func() {
	return s.api.Inject(s.match("watch"), faultproxy.WithholdBookmarks{}).Lift
}

func (s *server) forbidLists(t testing.TB) func() {
	t.Helper()
	s.permit(t, "watch")
	return func() { s.permit(t, "list", "watch") }
}

func (s *server) refuse(t testing.TB) func() {
	t.Helper()
	accept := refuseNew(t, s.tcp)
	s.tcp.Reset()
	return accept
}

// refuseNew refuses new connections and returns what accepts them again.
func refuseNew(t testing.TB, tcp *faultproxy.TCP) (accept func()) {
	t.Helper()
	refusal := tcp.Refuse()
	return func() {
		t.Helper()
		// Somebody's outgoing connection may have got the port for a moment.
		accepts := func() bool {
			failed := failures(tcp)
			refusal.Lift()
			if failures(tcp) == failed {
				return true
			}
			refusal = tcp.Refuse()
			return false
		}
		if !poll.Until(t.Context(), patience, accepts) {
			t.Fatalf("the proxy's port is taken: %v", tcp.Record())
		}
	}
}

// failures counts the faults that could not be undone.
func failures(tcp *faultproxy.TCP) int {
	n := 0
	for _, e := range tcp.Record() {
		if e.Action == faultproxy.Failed {
			n++
		}
	}
	return n
}

func (s *server) swallow(testing.TB) func() {
	return s.tcp.Blackhole(faultproxy.Blackhole{}).Lift
}

func (s *server) backUp(t testing.TB) { t.Fatal("only an own server can be restored") }

func (s *server) restore(t testing.TB) func() { s.backUp(t); return nil }
