// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package diagnoses

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
	"github.com/freshwatch/freshwatch/transport"
)

// operator is a program with three informers in one namespace, recorded, and reached by
// two proxies: one that answers PINGs itself, and one for its bytes.
type operator struct {
	t        *testing.T
	plane    *realplane.Plane
	ns       string
	recorder *flightrecorder.Recorder
	monitor  *freshness.Monitor
	api      *faultproxy.API
	tcp      *faultproxy.TCP
	informer cache.SharedIndexInformer // of ConfigMaps, which the faults are about
	told     *incidents
	runs     context.Context //nolint:containedctx // until the test ends
}

// incidents are what the recorder has told of.
type incidents struct {
	mu  sync.Mutex
	all []flightrecorder.Incident
}

func (i *incidents) add(x flightrecorder.Incident) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.all = append(i.all, x)
}

// options are what tests choose of an operator.
type options struct {
	direct    bool // no proxy that answers PINGs
	transport transport.Options
	freshness freshness.Options
	handler   func(obj any) // of ConfigMaps
	config    func(*rest.Config)
}

// of names the informer that the faults are about.
func (o *operator) of() string { return "configmaps/v1 in " + o.ns }

func newOperator(t *testing.T, p *realplane.Plane, opts options) *operator {
	t.Helper()
	o := &operator{t: t, plane: p, told: &incidents{}}
	o.ns = namespace(t, p)
	o.permit("list", "watch")
	user, err := p.User(o.ns)
	if err != nil {
		t.Fatal(err)
	}
	cfg := o.proxied(user, opts.direct)
	if opts.config != nil {
		opts.config(cfg)
	}
	if o.recorder, err = flightrecorder.New(flightrecorder.Options{OnIncident: o.told.add}); err != nil {
		t.Fatal(err)
	}
	opts.transport.Observer = o.recorder.ObserveTransport
	guard, err := transport.Wrap(cfg, opts.transport)
	if err != nil {
		t.Fatal(err)
	}
	opts.freshness.Observer, opts.freshness.Connections = o.recorder.ObserveInformers, guard
	if o.monitor, err = freshness.New(opts.freshness); err != nil {
		t.Fatal(err)
	}
	if err := o.recorder.Attach(flightrecorder.Sources{Monitor: o.monitor, Transport: guard}); err != nil {
		t.Fatal(err)
	}
	o.run(cfg, opts.handler)
	o.edit("first")
	await(t, "all informers are fresh, and nothing is said", func() bool {
		s := o.recorder.Snapshot()
		return strings.HasPrefix(s.Diagnosis, "All 3 informers are fresh") && o.has("first") && o.watched()
	})
	if got := o.incidents(); len(got) != 0 {
		t.Fatalf("there were incidents before the fault: %+v", got)
	}
	return o
}

// watched tells whether all watches have been answered.
func (o *operator) watched() bool {
	for _, st := range o.monitor.Status() {
		if !st.Watch.Open || st.Watch.Answered.IsZero() {
			return false
		}
	}
	return true
}

// proxied returns cfg by way of the proxies.
func (o *operator) proxied(cfg *rest.Config, direct bool) *rest.Config {
	o.t.Helper()
	cfg = rest.CopyConfig(cfg)
	target := strings.TrimPrefix(cfg.Host, "https://")
	var err error
	if !direct {
		if o.api, err = faultproxy.NewAPI(o.plane.Config(), faultproxy.APIOptions{}); err != nil {
			o.t.Fatal(err)
		}
		o.t.Cleanup(func() { _ = o.api.Close() })
		cfg, target = o.api.Config(cfg), o.api.Addr()
	}
	if o.tcp, err = faultproxy.NewTCP(target, faultproxy.TCPOptions{}); err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { _ = o.tcp.Close() })
	cfg.Host = "https://" + o.tcp.Addr()
	return cfg
}

// run makes the informers and runs them with the monitor until the test ends.
func (o *operator) run(cfg *rest.Config, handler func(any)) {
	o.t.Helper()
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		o.t.Fatal(err)
	}
	client, err := kubernetes.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		o.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.runs = ctx
	var wg sync.WaitGroup
	o.t.Cleanup(func() { cancel(); wg.Wait(); httpClient.CloseIdleConnections() })
	for resource, obj := range map[string]runtime.Object{"configmaps": &corev1.ConfigMap{}, "secrets": &corev1.Secret{}, "services": &corev1.Service{}} {
		lw := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), resource, o.ns, fields.Everything())
		inf := o.monitor.NewInformer(lw, obj, 0, cache.Indexers{})
		if resource == "configmaps" {
			o.informer = inf
			if handler != nil {
				if _, err := o.monitor.AddEventHandler(inf, cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, obj any) { handler(obj) }}); err != nil {
					o.t.Fatal(err)
				}
			}
		}
		wg.Go(func() { inf.RunWithContext(ctx) })
	}
	wg.Go(func() { _ = o.monitor.Start(ctx) })
}

// edit changes the one ConfigMap, as somebody else does, and returns its
// resourceVersion.
func (o *operator) edit(content string) string {
	o.t.Helper()
	return o.write("edited", content)
}

func (o *operator) write(name, content string) string {
	o.t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: o.ns}, Data: map[string]string{"content": content}}
	client := o.plane.Typed.CoreV1().ConfigMaps(o.ns)
	got, err := client.Update(o.t.Context(), cm, metav1.UpdateOptions{})
	if err != nil {
		got, err = client.Create(o.t.Context(), cm, metav1.CreateOptions{})
	}
	if err != nil {
		o.t.Fatal(err)
	}
	return got.ResourceVersion
}

// has tells whether the cache shows an edit.
func (o *operator) has(content string) bool {
	obj, ok, err := o.informer.GetStore().GetByKey(o.ns + "/edited")
	if err != nil || !ok {
		return false
	}
	cm, ok := obj.(*corev1.ConfigMap)
	return ok && cm.Data["content"] == content
}

// permit gives the operator's user these verbs on what it watches, and no others.
func (o *operator) permit(verbs ...string) {
	o.t.Helper()
	rbac := o.plane.Typed.RbacV1()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "operator"}, Rules: []rbacv1.PolicyRule{{Verbs: verbs, APIGroups: []string{""}, Resources: []string{"configmaps", "secrets", "services"}}}}
	if _, err := rbac.Roles(o.ns).Update(o.t.Context(), role, metav1.UpdateOptions{}); err != nil { // creates it, too
		o.t.Fatal(err)
	}
	_, err := rbac.RoleBindings(o.ns).Update(o.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "operator"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "operator"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: o.ns}},
	}, metav1.UpdateOptions{})
	if err != nil {
		o.t.Fatal(err)
	}
}

func namespace(t *testing.T, p *realplane.Plane) string {
	t.Helper()
	ns, err := p.Typed.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "diagnoses-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// incidents returns what the recorder holds.
func (o *operator) incidents() []flightrecorder.Incident { return o.recorder.Incidents() }

// incident waits for an incident that want is true of, and returns it.
func (o *operator) incident(what string, want func(flightrecorder.Incident) bool) flightrecorder.Incident {
	o.t.Helper()
	var found flightrecorder.Incident
	begin := time.Now()
	if !poll.Until(o.t.Context(), patience, func() bool {
		all := o.incidents()
		n := slices.IndexFunc(all, want)
		if n >= 0 {
			found = all[n]
		}
		return n >= 0
	}) {
		var text strings.Builder
		_, _ = o.recorder.WriteTo(&text)
		o.t.Fatalf("not within %v: %s; the recorder holds:\n%s", patience, what, text.String())
	}
	o.t.Logf("after %v: %s", time.Since(begin).Round(time.Second), found.Diagnosis)
	return found
}

func (o *operator) texts() string {
	var out []string
	for _, i := range o.incidents() {
		out = append(out, i.Diagnosis)
	}
	return strings.Join(out, "\n")
}
