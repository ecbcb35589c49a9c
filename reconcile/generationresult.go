// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// generationResult is how a read ended.
type generationResult int

const (
	generationRead         generationResult = iota
	generationUnauthorized                  // 401
	generationForbidden                     // 403
	generationUnserved                      // the kind is not there
	generationThrottled                     // 429, after what client-go has retried
	generationFailed                        // anything else
)

// generationResultNames are the metrics'.
var generationResultNames = [...]string{"ok", "unauthorized", "forbidden", "unserved", "throttled", "error"}

func generationResultOf(err error) generationResult {
	switch {
	case err == nil:
		return generationRead
	case apierrors.IsUnauthorized(err):
		return generationUnauthorized
	case apierrors.IsForbidden(err):
		return generationForbidden
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return generationUnserved
	case apierrors.IsTooManyRequests(err):
		return generationThrottled
	default:
		return generationFailed
	}
}

// generationHint says what heals a read that fails.
func generationHint(result generationResult, gvr schema.GroupVersionResource, namespace string) string {
	switch result {
	case generationUnauthorized:
		return "the token of this process is not accepted: if its ServiceAccount was made anew, delete the Pod"
	case generationForbidden:
		role := "ClusterRole"
		if namespace != "" {
			role = "Role in namespace " + namespace
		}
		return fmt.Sprintf("add to this process's %s the rule {apiGroups: [%q], resources: [%s], verbs: [list]}", role, gvr.Group, gvr.Resource)
	case generationUnserved:
		return "the API server does not serve this kind: install its CustomResourceDefinition, or leave the kind out"
	case generationThrottled:
		return "the API server is overloaded, or its watch cache does not get along"
	default:
		return ""
	}
}
