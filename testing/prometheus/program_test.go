// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

const (
	account = "operator"
	edited  = "edited" // the object of each kind that is edited
)

// program is an operator, which Prometheus knows as a job: its namespace, and the proxies
// through which its pods reach the API server.
type program struct {
	job   string
	ns    string
	plane *realplane.Plane
	api   *faultproxy.API
	tcp   *faultproxy.TCP // in front of api
	spec  spec

	mu   sync.Mutex
	pods []*pod
}

// newProgram makes all that its pods need.
func newProgram(t *testing.T, p *realplane.Plane, job string, s spec) *program {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: job}}
	if _, err := p.Typed.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pr := &program{job: job, ns: job, plane: p, spec: s}
	cfg, err := p.ServiceAccount(t.Context(), pr.ns, account, 0)
	if err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: job},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: pr.ns, Name: account}},
	}
	if _, err := p.Typed.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if pr.api, err = faultproxy.NewAPI(p.Config(), faultproxy.APIOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pr.api.Close() })
	if pr.tcp, err = faultproxy.NewTCP(pr.api.Addr(), faultproxy.TCPOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pr.tcp.Close() })
	pr.spec.Namespace = pr.ns
	pr.spec.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	cfg = pr.api.Config(cfg)
	cfg.Host = "https://" + pr.tcp.Addr()
	if err := controlplane.WriteKubeconfig(pr.spec.Kubeconfig, cfg); err != nil {
		t.Fatal(err)
	}
	pr.create(t, edited)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: edited}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: template().Labels},
		Template: template(),
	}}
	if _, err := p.Typed.AppsV1().Deployments(pr.ns).Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return pr
}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": edited}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none.example/none"}}},
	}
}

// create creates an object of the kind that the program reads.
func (pr *program) create(t *testing.T, name string) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: name}
	var err error
	if pr.spec.Templates {
		_, err = pr.plane.Typed.CoreV1().PodTemplates(pr.ns).Create(t.Context(), &corev1.PodTemplate{ObjectMeta: meta, Template: template()}, metav1.CreateOptions{})
	} else {
		_, err = pr.plane.Typed.CoreV1().ConfigMaps(pr.ns).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// edit edits an object of each kind that the program watches.
func (pr *program) edit(ctx context.Context, n int) error {
	resource := "configmaps"
	if pr.spec.Templates {
		resource = "podtemplates"
	}
	annotate := fmt.Appendf(nil, `{"metadata":{"annotations":{"n":"%d"}}}`, n)
	err := pr.plane.Typed.CoreV1().RESTClient().Patch(types.MergePatchType).
		Namespace(pr.ns).Resource(resource).Name(edited).Body(annotate).Do(ctx).Error()
	if err != nil {
		return err
	}
	scale := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n%10)
	_, err = pr.plane.Typed.AppsV1().Deployments(pr.ns).Patch(ctx, edited, types.MergePatchType, scale, metav1.PatchOptions{})
	return err
}

// silence kills the watches of the kind that the program reads, those that are open, and
// those to come.
func (pr *program) silence(onlyOpen bool) *faultproxy.Injection {
	return pr.api.Inject(faultproxy.Match{Verb: "watch", Resource: "configmaps"}, faultproxy.Silence{OnlyOpen: onlyOpen})
}

// start starts a pod.
func (pr *program) start(t *testing.T) *pod {
	t.Helper()
	pr.mu.Lock()
	defer pr.mu.Unlock()
	s := pr.spec
	s.Name, s.Address = fmt.Sprintf("%s-%d", pr.job, len(pr.pods)), freeAddress(t)
	p := startPod(t, s)
	pr.pods = append(pr.pods, p)
	return p
}

// targets are what there is to scrape.
func (pr *program) targets() []target {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	var out []target
	for _, p := range pr.pods {
		if !p.deleted() {
			out = append(out, target{
				Targets: []string{p.spec.Address},
				Labels:  map[string]string{"job": pr.job, "namespace": pr.ns, "pod": p.spec.Name},
			})
		}
	}
	return out
}
