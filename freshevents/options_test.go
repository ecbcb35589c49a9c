// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/watchcanary"
)

func TestDefaults(t *testing.T) {
	o, err := Options{}.withDefaults()
	if err != nil || o.Lease != watchcanary.DefaultName || o.Component != DefaultComponent || o.Clock == nil {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestBadOptions(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		want string
	}{
		{"lease", Options{Lease: "My Lease"}, `Options.Lease is "My Lease", but must be an object's name`},
		{"namespace", Options{Namespace: "a/b"}, `Options.Namespace is "a/b", but must be a namespace's name`},
		{"component", Options{Component: "My Operator"}, `Options.Component is "My Operator", but must be a name`},
		{"kind", Options{Object: corev1.ObjectReference{Name: "a", UID: "1"}}, "Options.Object.Kind is empty, but must be set"},
		{"name of the object", Options{Object: corev1.ObjectReference{Kind: "Pod", UID: "1"}}, "Options.Object.Name is empty, but must be set"},
		{"UID", Options{Object: corev1.ObjectReference{Kind: "Pod", Name: "a"}}, "Options.Object.UID is empty, but must be set"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := New(watchcanary.Client{Config: &rest.Config{}, HTTP: http.DefaultClient}, tt.o)
			if e != nil || err == nil || !strings.Contains(err.Error(), "freshevents: "+tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
	for name, from := range map[string]watchcanary.Source{
		"nil": nil, "nil pointer": (*watchcanary.Client)(nil), "no config": watchcanary.Client{HTTP: http.DefaultClient}, "no client": watchcanary.Client{Config: &rest.Config{}},
	} {
		if _, err := New(from, Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestTargetOf(t *testing.T) {
	dir := t.TempDir()
	inPod, noFile := filepath.Join(dir, "namespace"), filepath.Join(dir, "none")
	if err := os.WriteFile(inPod, []byte("operators\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	deployment := corev1.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "elsewhere", Name: "operator", UID: "7"}
	lease := func(ns, name string) corev1.ObjectReference {
		return corev1.ObjectReference{APIVersion: coordinationv1.SchemeGroupVersion.String(), Kind: "Lease", Namespace: ns, Name: name}
	}
	bound := rest.Config{BearerToken: tokenOf(claimsOfPod)}
	for _, tt := range []struct {
		name string
		cfg  rest.Config
		o    Options
		file string
		want corev1.ObjectReference
		none bool
	}{
		{"given", bound, Options{Object: deployment}, inPod, deployment, false},
		{"the Pod, without a look at anything else", bound, Options{}, noFile, pod, false},
		{"the Lease in the pod's namespace", rest.Config{}, Options{}, inPod, lease("operators", watchcanary.DefaultName), false},
		{"the Lease as given", rest.Config{}, Options{Namespace: "ns", Lease: "mine"}, noFile, lease("ns", "mine"), false},
		{"nothing", rest.Config{}, Options{}, noFile, corev1.ObjectReference{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, err := tt.o.withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			got := targetOf(&tt.cfg, o, tt.file)
			if diff := cmp.Diff(tt.want, got.ref); diff != "" || (got.none != nil) != tt.none {
				t.Errorf("%v (-want +got):\n%s", got.none, diff)
			}
			if tt.none && (!errors.Is(got.none, os.ErrNotExist) || !strings.Contains(got.none.Error(), "set Options.Object")) {
				t.Errorf("%v does not say what to do", got.none)
			}
		})
	}
	if ns := (&target{ref: corev1.ObjectReference{Kind: "Node"}}).namespace(); ns != "default" {
		t.Errorf("Events about what has no namespace are in %q", ns)
	}
}
