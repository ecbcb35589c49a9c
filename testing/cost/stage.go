// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/freshwatch/freshwatch/testing/controlplane"
)

const (
	account          = "operator"
	accountNamespace = "default"
	// tokenExpiry is longer than any process is measured for.
	tokenExpiry = 12 * time.Hour
)

// stage is a control plane with all kinds and namespaces, and the account that
// the processes use: no administrator, so that what it asks for is authorised,
// and queued where there is too much of it, as an operator's requests are.
type stage struct {
	plane      *controlplane.ControlPlane
	typed      kubernetes.Interface
	dynamic    dynamic.Interface
	namespaces []string
	kubeconfig string
	dir        string
}

func newStage(ctx context.Context, opts options, log io.Writer) (_ *stage, err error) {
	s := &stage{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	if s.plane, err = controlplane.Start(ctx, controlplane.Options{Version: opts.version, Log: log}); err != nil {
		return nil, err
	}
	cfg := s.plane.Config()
	if s.typed, err = kubernetes.NewForConfig(cfg); err != nil {
		return nil, err
	}
	if s.dynamic, err = dynamic.NewForConfig(cfg); err != nil {
		return nil, err
	}
	if err := s.addNamespaces(ctx, opts.namespaces); err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := s.addKinds(ctx, opts.kinds); err != nil {
		return nil, err
	}
	fmt.Fprintf(log, "cost: %d kinds are served after %v\n", opts.kinds, time.Since(begin).Round(time.Second))
	return s, s.addAccount(ctx)
}

func (s *stage) stop() error {
	var errs []error
	if s.plane != nil {
		errs = append(errs, s.plane.Stop())
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

func (s *stage) addNamespaces(ctx context.Context, n int) error {
	for i := range n {
		name := fmt.Sprintf("cost-%d", i)
		if _, err := s.typed.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			return err
		}
		s.namespaces = append(s.namespaces, name)
	}
	return nil
}

// addAccount makes the account, its rights, and a kubeconfig.
func (s *stage) addAccount(ctx context.Context) error {
	_, err := s.typed.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: account},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{group}, Resources: []string{"*"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = s.typed.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: account},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: accountNamespace, Name: account}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	cfg, err := s.plane.ServiceAccount(ctx, accountNamespace, account, tokenExpiry)
	if err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "freshwatch-cost-"); err != nil {
		return err
	}
	s.kubeconfig = filepath.Join(s.dir, "kubeconfig")
	return controlplane.WriteKubeconfig(s.kubeconfig, cfg)
}

// renew writes something once a second until ctx ends, as leases are renewed in
// every cluster: no resourceVersion stands still for long.
func (s *stage) renew(ctx context.Context) {
	client := s.typed.CoreV1().ConfigMaps(s.namespaces[0])
	_, _ = client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "renewed"}}, metav1.CreateOptions{})
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ticker.C:
			patch := fmt.Appendf(nil, `{"data":{"n":"%d"}}`, n)
			_, _ = client.Patch(ctx, "renewed", types.MergePatchType, patch, metav1.PatchOptions{}) // the next one comes
		case <-ctx.Done():
			return
		}
	}
}
