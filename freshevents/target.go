// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/freshwatch/freshwatch/internal/restartlease"
)

// target is what Events are about.
type target struct {
	ref  corev1.ObjectReference
	none error // why there is nothing; nil: there is
}

// targetOf finds it without sending anything. Of a Lease the UID is not known yet.
func targetOf(cfg *rest.Config, o Options, namespaceFile string) target {
	if (o.Object != corev1.ObjectReference{}) {
		return target{ref: o.Object}
	}
	pod, noPod := podOf(cfg)
	if noPod == nil {
		return target{ref: pod}
	}
	namespace, err := restartlease.Namespace("Options.Namespace", o.Namespace, namespaceFile)
	if err != nil {
		return target{none: fmt.Errorf("no Pod: %w; no Lease: %w; set Options.Object", noPod, err)}
	}
	return target{ref: corev1.ObjectReference{
		APIVersion: coordinationv1.SchemeGroupVersion.String(), Kind: "Lease", Namespace: namespace, Name: o.Lease,
	}}
}

// resolve asks for the UID of the Lease, which the canary's Role allows.
func (t *target) resolve(ctx context.Context, client kubernetes.Interface) error {
	if t.ref.UID != "" {
		return nil
	}
	lease, err := client.CoordinationV1().Leases(t.ref.Namespace).Get(ctx, t.ref.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("Events are about lease %s/%s, which cannot be read: %w", t.ref.Namespace, t.ref.Name, err)
	}
	t.ref.UID = lease.UID
	return nil
}

// namespace is where the Events go.
func (t *target) namespace() string {
	if t.ref.Namespace == "" {
		return metav1.NamespaceDefault
	}
	return t.ref.Namespace
}
