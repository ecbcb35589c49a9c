// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// realServer is a real etcd and kube-apiserver with a proxy at every place where one fits:
//
//	clients -> api -> wire -> kube-apiserver -> etcd proxy -> etcd
type realServer struct {
	api    *faultproxy.API
	wire   *faultproxy.TCP
	etcd   *faultproxy.Etcd
	direct *client // past all proxies but the one before etcd
}

// TestRealServer runs the faults that have a meaning for kube-apiserver and client-go. One control plane serves them all;
// each test has objects of its own and leaves no fault behind.
func TestRealServer(t *testing.T) {
	s := startReal(t)
	for name, test := range map[string]func(*testing.T, *realServer){
		"one silent stream":                  testOneSilentStream,
		"upstream dead behind a proxy":       testUpstreamDead,
		"frozen watch cache":                 testFrozenWatchCache,
		"held watch cache":                   testHeldWatchCache,
		"late watch cache":                   testLateWatchCache,
		"events lost between etcd and cache": testEventsLostAtEtcd,
		"events lost on the way to a client": testEventsLostAtClient,
		"WatchList without its end":          testWatchListWithoutEnd,
		"history gone":                       testHistoryGone,
		"GOAWAY every few requests":          testGoAwayIsHarmless,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

func startReal(t *testing.T) *realServer {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real control plane")
	}
	s := &realServer{}
	cp, err := controlplane.Start(t.Context(), controlplane.Options{
		Log: os.Stderr,
		WrapEtcd: func(_ context.Context, url string) (string, error) {
			s.etcd = newEtcd(t, url)
			return s.etcd.URL(), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	s.wire = newTCP(t, strings.TrimPrefix(cp.APIServerURL(), "https://"), faultproxy.TCPOptions{})
	s.api = newAPI(t, cp.Config(), faultproxy.APIOptions{Via: s.wire.Addr()})
	s.direct = newClient(t, cp.Config())
	return s
}

// proxied returns a client that goes through the API proxy. Its user agent is the name of the test, to aim by.
func (s *realServer) proxied(t *testing.T, contentType string) *client {
	t.Helper()
	cfg := s.api.Config(s.direct.cfg)
	cfg.UserAgent, cfg.ContentType = t.Name(), contentType
	return newClient(t, cfg)
}

// mine selects the watches of a test's own client.
func mine(t *testing.T, resource string) faultproxy.Match {
	t.Helper()
	return faultproxy.Match{Verb: "watch", Group: "core", Resource: resource, UserAgent: t.Name()}
}

// caches are informers for ConfigMaps and Secrets.
type caches struct{ configMaps, secrets cache.SharedIndexInformer }

func (c *client) caches(t *testing.T) caches {
	t.Helper()
	f := informers.NewSharedInformerFactory(c, 0)
	out := caches{f.Core().V1().ConfigMaps().Informer(), f.Core().V1().Secrets().Informer()}
	ctx, cancel := context.WithCancel(t.Context())
	f.StartWithContext(ctx)
	t.Cleanup(func() {
		cancel()
		f.Shutdown()
	})
	return out
}

// synced waits for both caches.
func (c caches) synced(t *testing.T) caches {
	t.Helper()
	eventually(t, "the caches to sync", func() bool { return c.configMaps.HasSynced() && c.secrets.HasSynced() })
	return c
}

// has reports whether a cache has the object at least at this resourceVersion.
func has(i cache.SharedIndexInformer, object metav1.Object) bool {
	cached, ok, err := i.GetStore().GetByKey(object.GetNamespace() + "/" + object.GetName())
	return err == nil && ok && cached.(metav1.Object).GetResourceVersion() == object.GetResourceVersion()
}

// edit creates or changes a ConfigMap, past the proxies.
func (s *realServer) edit(t *testing.T, name, value string) *corev1.ConfigMap {
	t.Helper()
	api := s.direct.CoreV1().ConfigMaps("default")
	want := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"value": value}}
	got, err := api.Update(patient(t), want, metav1.UpdateOptions{})
	if statusCode(err) == http.StatusNotFound {
		got, err = api.Create(patient(t), want, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// editSecret creates a Secret, past the proxies.
func (s *realServer) editSecret(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: name}}
	got, err := s.direct.CoreV1().Secrets("default").Create(patient(t), secret, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// cached returns the resourceVersion that the API server's watch cache has of a ConfigMap.
func (s *realServer) cached(t *testing.T, name string) string {
	t.Helper()
	got, err := s.direct.CoreV1().ConfigMaps("default").Get(patient(t), name, metav1.GetOptions{ResourceVersion: "0"})
	if err != nil && statusCode(err) != http.StatusNotFound {
		t.Fatal(err)
	}
	return got.ResourceVersion
}

// notOlderThan asks for a kind at a resourceVersion, and returns the HTTP status of the answer.
func (s *realServer) notOlderThan(t *testing.T, resource, rv string) int {
	t.Helper()
	result := s.direct.CoreV1().RESTClient().Get().Resource(resource).MaxRetries(0).Param("limit", "1").
		Param("resourceVersion", rv).Param("resourceVersionMatch", "NotOlderThan").Do(patient(t))
	var status int
	result.StatusCode(&status)
	return status
}

func testOneSilentStream(t *testing.T, s *realServer) {
	for _, contentType := range []string{mediaJSON, mediaProtobuf} {
		c := s.proxied(t, contentType)
		have := c.caches(t).synced(t)
		before := s.api.Counts(faultproxy.Match{UserAgent: t.Name()})
		inj := s.api.Inject(mine(t, "configmaps"), faultproxy.Silence{OnlyOpen: true})
		edited := s.edit(t, "silent", contentType)
		beside := s.editSecret(t, "silent")
		eventually(t, "the stream beside it", func() bool { return has(have.secrets, beside) })
		if has(have.configMaps, edited) || inj.Hits() == 0 {
			t.Errorf("%s: the edit came through; %d hits", contentType, inj.Hits())
		}
		fresh := c.watch(t, metav1.ListOptions{ResourceVersion: "0"})
		eventually(t, "a new stream", func() bool {
			cm, ok := fresh.next(t).Object.(*corev1.ConfigMap)
			return ok && cm.Name == edited.Name && cm.ResourceVersion == edited.ResourceVersion
		})
		after := s.api.Counts(faultproxy.Match{UserAgent: t.Name()})
		if after.Relisted() != before.Relisted() {
			t.Errorf("%s: %d objects were relisted", contentType, after.Relisted()-before.Relisted())
		}
		inj.Lift()
		if has(have.configMaps, edited) {
			t.Errorf("%s: the lift revived the stream", contentType)
		}
	}
}

func testUpstreamDead(t *testing.T, s *realServer) {
	have := s.proxied(t, mediaProtobuf).caches(t).synced(t)
	hole := s.wire.Blackhole(faultproxy.Blackhole{Existing: true})
	edited := s.edit(t, "unreachable", "x")
	direct := s.direct.watch(t, metav1.ListOptions{ResourceVersion: "0", FieldSelector: "metadata.name=unreachable"})
	direct.next(t) // who does not go through the hole sees it
	if has(have.configMaps, edited) {
		t.Error("the edit came through the black hole")
	}
	hole.Lift()
	eventually(t, "the edit after the lift", func() bool { return has(have.configMaps, edited) })
}

// What requests say while the watch cache of one kind is frozen.
func testFrozenWatchCache(t *testing.T, s *realServer) {
	have := s.proxied(t, mediaProtobuf).caches(t).synced(t)
	old := s.edit(t, "frozen", "old")
	eventually(t, "the watch cache", func() bool { return s.cached(t, "frozen") == old.ResourceVersion })
	streams := s.api.Counts(faultproxy.Match{Verb: "watch", UserAgent: t.Name()}).Requests

	inj := s.etcd.FreezeWatches("/registry/configmaps/")
	edited := s.edit(t, "frozen", "new")
	if err := inj.WaitHits(patient(t), 1); err != nil {
		t.Fatal(err)
	}
	got, err := s.direct.CoreV1().ConfigMaps("default").Get(patient(t), "frozen", metav1.GetOptions{})
	if err != nil || got.ResourceVersion != edited.ResourceVersion {
		t.Errorf("a quorum GET returned %s (%v), want %s", got.ResourceVersion, err, edited.ResourceVersion)
	}
	if got := s.cached(t, "frozen"); got != old.ResourceVersion {
		t.Errorf("the watch cache has %s, want the old %s", got, old.ResourceVersion)
	}
	if got := s.notOlderThan(t, "configmaps", edited.ResourceVersion); got != http.StatusGatewayTimeout {
		t.Errorf("LIST not older than the edit: status %d, want 504", got)
	}
	if got := s.notOlderThan(t, "secrets", edited.ResourceVersion); got != http.StatusOK {
		t.Errorf("another kind: status %d, want 200", got)
	}
	beside := s.editSecret(t, "frozen")
	eventually(t, "another kind's informer", func() bool { return has(have.secrets, beside) })
	if has(have.configMaps, edited) {
		t.Error("the edit came through")
	}

	inj.Lift()
	eventually(t, "the watch cache after the thaw", func() bool { return s.cached(t, "frozen") == edited.ResourceVersion })
	eventually(t, "the informer after the thaw", func() bool { return has(have.configMaps, edited) })
	if got := s.notOlderThan(t, "configmaps", edited.ResourceVersion); got != http.StatusOK {
		t.Errorf("LIST not older than the edit, after the thaw: status %d", got)
	}
	if got := s.api.Counts(faultproxy.Match{Verb: "watch", UserAgent: t.Name()}).Requests; got != streams {
		t.Errorf("%d watches were opened anew, want that the API server healed by itself", got-streams)
	}
}

func testHeldWatchCache(t *testing.T, s *realServer) {
	have := s.proxied(t, mediaProtobuf).caches(t).synced(t)
	inj := s.etcd.HoldWatches("/registry/configmaps/")
	edited := s.edit(t, "held", "x")
	if err := inj.WaitHits(patient(t), 1); err != nil {
		t.Fatal(err)
	}
	if has(have.configMaps, edited) || s.cached(t, "held") != "" {
		t.Error("the edit came through")
	}
	inj.Lift()
	eventually(t, "the informer", func() bool { return has(have.configMaps, edited) })
}

func testLateWatchCache(t *testing.T, s *realServer) {
	const delay = 700 * time.Millisecond
	inj := s.etcd.Delay("/registry/configmaps/", delay)
	defer inj.Lift()
	start := time.Now()
	edited := s.edit(t, "late", "x")
	eventually(t, "the watch cache", func() bool { return s.cached(t, "late") == edited.ResourceVersion })
	if took := time.Since(start); took < delay {
		t.Errorf("the watch cache had the edit after %v, want at least %v", took, delay)
	}
}

// The watch cache says that it is up to date, and is not.
func testEventsLostAtEtcd(t *testing.T, s *realServer) {
	old := s.edit(t, "lost", "old")
	eventually(t, "the watch cache", func() bool { return s.cached(t, "lost") == old.ResourceVersion })
	inj := s.etcd.DropEvents("/registry/configmaps/default/lost", 1)
	defer inj.Lift()
	edited := s.edit(t, "lost", "new")
	if err := inj.WaitHits(patient(t), 1); err != nil {
		t.Fatal(err)
	}
	if got := s.notOlderThan(t, "configmaps", edited.ResourceVersion); got != http.StatusOK {
		t.Errorf("LIST not older than the lost edit: status %d, want 200", got)
	}
	if got := s.cached(t, "lost"); got != old.ResourceVersion {
		t.Errorf("the watch cache has %s, want the old %s", got, old.ResourceVersion)
	}
	healed := s.edit(t, "lost", "newest") // the next event is not lost
	eventually(t, "the watch cache", func() bool { return s.cached(t, "lost") == healed.ResourceVersion })
}

func testEventsLostAtClient(t *testing.T, s *realServer) {
	have := s.proxied(t, mediaProtobuf).caches(t).synced(t)
	old := s.edit(t, "dropped", "old")
	eventually(t, "the informer", func() bool { return has(have.configMaps, old) })
	drop := faultproxy.DropEvents{Types: []watch.EventType{watch.Modified}, Name: "dropped"}
	inj := s.api.Inject(mine(t, "configmaps"), drop)
	defer inj.Lift()
	s.edit(t, "dropped", "new")
	if err := inj.WaitHits(patient(t), 1); err != nil {
		t.Fatal(err)
	}
	later := s.edit(t, "delivered", "x")
	eventually(t, "the event after the lost one", func() bool { return has(have.configMaps, later) })
	if !has(have.configMaps, old) {
		t.Error("the lost event came through")
	}
	if got := have.configMaps.LastSyncResourceVersion(); got != later.ResourceVersion {
		t.Errorf("the informer is at %s, want %s, past the lost event", got, later.ResourceVersion)
	}
}

func testWatchListWithoutEnd(t *testing.T, s *realServer) {
	s.edit(t, "endless", "x")
	m := mine(t, "configmaps")
	m.InitialEvents = true
	inj := s.api.Inject(m, faultproxy.WithholdInitialEventsEnd{})
	have := s.proxied(t, mediaProtobuf).caches(t)
	if err := inj.WaitHits(patient(t), 1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other cache", have.secrets.HasSynced)
	if got := s.api.Counts(m); got.InitialObjects == 0 || have.configMaps.HasSynced() {
		t.Errorf("synced %v after %d objects, want objects and no sync", have.configMaps.HasSynced(), got.InitialObjects)
	}
	inj.Lift()
	m.Times = 1 // the stream that waits for its end waits for ever
	s.api.Inject(m, faultproxy.CutStreamEvery{Age: time.Nanosecond})
	have.synced(t)
}

// A 410 inside of a stream costs the reflector a relist, and nothing else.
func testHistoryGone(t *testing.T, s *realServer) {
	have := s.proxied(t, mediaProtobuf).caches(t).synced(t)
	all := faultproxy.Match{UserAgent: t.Name(), Resource: "configmaps"}
	before := s.api.Counts(all)
	m := mine(t, "configmaps")
	m.Times = 1
	s.api.Inject(m, faultproxy.ErrorEvent{})
	edited := s.edit(t, "gone", "x")
	eventually(t, "the informer", func() bool { return has(have.configMaps, edited) })
	if got := s.api.Counts(all); got.Relisted() == before.Relisted() {
		t.Errorf("nothing was relisted: %+v", got)
	}
}

// A negative control: nothing is lost, and no watch is renewed.
func testGoAwayIsHarmless(t *testing.T, s *realServer) {
	c := s.proxied(t, mediaProtobuf)
	have := c.caches(t).synced(t)
	inj := s.api.Inject(faultproxy.Match{UserAgent: t.Name()}, faultproxy.GoAway{Every: 5})
	defer inj.Lift()
	for i := range 20 {
		if _, err := c.CoreV1().ConfigMaps("default").List(patient(t), metav1.ListOptions{Limit: 1}); err != nil {
			t.Fatalf("list %d: %v", i, err)
		}
	}
	edited := s.edit(t, "away", fmt.Sprint(inj.Hits()))
	eventually(t, "the informer", func() bool { return has(have.configMaps, edited) })
	if got := s.api.Counts(faultproxy.Match{Verb: "watch", UserAgent: t.Name()}).Requests; got != 2 || inj.Hits() == 0 {
		t.Errorf("%d watches after %d GOAWAYs, want the first 2", got, inj.Hits())
	}
}
