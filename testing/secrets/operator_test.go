// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/freshwatch/freshwatch"
	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
	"github.com/freshwatch/freshwatch/transport"
)

const (
	secretValue = "value-that-nobody-may-tell"
	selector    = "selector-that-nobody-may-tell"
	apiKey      = "key-that-nobody-may-tell"
	pagePath    = "/debug/freshwatch"
)

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) write(prefix, args string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(&l.text, prefix, args)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// operator is a manager with every guard, a token of its own, and things to hide.
type operator struct {
	ns       string
	plane    *realplane.Plane
	api      *faultproxy.API
	tcp      *faultproxy.TCP
	guard    *freshwatch.Guard
	page     http.Handler
	registry *prometheus.Registry
	exited   chan int
	message  string // the file of the termination message
	wedge    chan struct{}
	hide     markers
}

func newOperator(t *testing.T, p *realplane.Plane) *operator {
	t.Helper()
	o := &operator{plane: p, registry: prometheus.NewRegistry(), exited: make(chan int, 1), wedge: make(chan struct{}), message: filepath.Join(t.TempDir(), "termination-log")}
	ns, err := p.Typed.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "secrets-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o.ns = ns.Name
	token := o.account(t)
	o.hide = markers{
		"the token": token, "the token's signature": token[strings.LastIndexByte(token, '.')+1:], "the token's payload": strings.Split(token, ".")[1],
		"a Secret's value": secretValue, "a selector in a query": selector, "a key in a query": apiKey,
	}

	cfg := o.config(t, token)
	opts := freshwatch.Options{
		Registerer: o.registry, Logger: logger, DebugPath: pagePath,
		Transport: transport.Options{ExitOnUnauthorized: &transport.ExitOptions{
			After: 10 * time.Second, TerminationLog: o.message, Exit: func(code int) { o.exited <- code },
		}},
		Freshness: freshness.Options{MaxStaleness: freshness.MinMaxStaleness},
	}
	opts.Canary.Namespace, opts.Canary.Interval, opts.Canary.FailAfter = o.ns, 2*time.Second, 15*time.Second
	opts.Reconcile.Default = reconcile.DeadlineOptions{Timeout: 2 * time.Second, Grace: time.Second, FailAfter: time.Second}
	if o.guard, err = freshwatch.New(opts); err != nil {
		t.Fatal(err)
	}
	mo := ctrl.Options{
		Logger: theirs.WithName("manager"), Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "127.0.0.1:0",
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{o.ns: {}},
			ByObject:          map[client.Object]cache.ByObject{&corev1.Secret{}: {Label: labels.SelectorFromSet(labels.Set{"team": selector})}},
		},
	}
	if err := errors.Join(o.guard.PrepareConfig(cfg), o.guard.PrepareManager(&mo)); err != nil {
		t.Fatal(err)
	}
	o.page = mo.Metrics.ExtraHandlers[pagePath]
	mgr, err := ctrl.NewManager(cfg, mo)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.guard.AddTo(mgr); err != nil {
		t.Fatal(err)
	}
	err = reconcile.Complete(o.guard.Deadlines(), "secrets", ctrl.NewControllerManagedBy(mgr).For(&corev1.Secret{}), ctrlreconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
		s := &corev1.Secret{}
		if err := mgr.GetClient().Get(ctx, req.NamespacedName, s); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		if s.Name == "wedges" {
			<-o.wedge
		}
		return ctrl.Result{}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = mgr.Start(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait(); mgr.GetHTTPClient().CloseIdleConnections() })
	return o
}

// account makes a ServiceAccount with the rights of the operator, and returns its token.
func (o *operator) account(t *testing.T) string {
	t.Helper()
	core, rbac := o.plane.Typed.CoreV1(), o.plane.Typed.RbacV1()
	_, err := core.ServiceAccounts(o.ns).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "operator"}}, metav1.CreateOptions{})
	_, err2 := rbac.Roles(o.ns).Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "operator"}, Rules: []rbacv1.PolicyRule{
		{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{""}, Resources: []string{"secrets"}},
		{Verbs: []string{"*"}, APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}},
		{Verbs: []string{"create", "patch"}, APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}},
	}}, metav1.CreateOptions{})
	_, err3 := rbac.RoleBindings(o.ns).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "operator"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "operator"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "operator", Namespace: o.ns}},
	}, metav1.CreateOptions{})
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(3600))}}
	token, err4 := core.ServiceAccounts(o.ns).CreateToken(t.Context(), "operator", request, metav1.CreateOptions{})
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	return token.Status.Token
}

// config returns the operator's, by way of proxies, with a key that a company's gateway
// wants in every query.
func (o *operator) config(t *testing.T, token string) *rest.Config {
	t.Helper()
	var err error
	if o.api, err = faultproxy.NewAPI(o.plane.Config(), faultproxy.APIOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.api.Close() })
	if o.tcp, err = faultproxy.NewTCP(o.api.Addr(), faultproxy.TCPOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.tcp.Close() })
	cfg := o.api.Config(&rest.Config{Host: o.plane.Config().Host, BearerToken: token})
	cfg.Host = "https://" + o.tcp.Addr()
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return gateway{next}
	})
	return cfg
}

// gateway adds a key to the query of every request.
type gateway struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (g gateway) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	q := r.URL.Query()
	q.Set("apiKey", apiKey)
	r.URL.RawQuery = q.Encode()
	resp, err := g.next.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("gateway: %s: %w", r.URL, err) // as such wrappers do
	}
	return resp, nil
}

// WrappedRoundTripper lets others look below.
func (g gateway) WrappedRoundTripper() http.RoundTripper { return g.next }

// secret writes a Secret, as somebody else does.
func (o *operator) secret(t *testing.T, name string) {
	t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": selector}}, StringData: map[string]string{"password": secretValue}}
	if _, err := o.plane.Typed.CoreV1().Secrets(o.ns).Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// metrics returns what a scrape would.
func (o *operator) metrics(t *testing.T) string {
	t.Helper()
	return get(promhttp.HandlerFor(o.registry, promhttp.HandlerOpts{}), "/metrics", "")
}

// get returns what a handler answers.
func get(h http.Handler, path, accept string) string {
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var out bytes.Buffer
	_ = w.Result().Header.Write(&out)
	return out.String() + w.Body.String()
}
