// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// GenerationKind is a kind whose controller reports the generation that it has seen.
type GenerationKind struct {
	// Object names the kind, and nothing else of it counts. It is of a type that the
	// manager's scheme knows, or an unstructured.Unstructured or
	// metav1.PartialObjectMetadata that says its GroupVersionKind. Required.
	Object client.Object

	// Namespace, if set, is the only one that is looked at: that which the controller is
	// restricted to.
	Namespace string

	// Selector, if set, selects the objects that the controller handles, by their labels:
	// it leaves out those of other controllers, and those that are paused.
	Selector labels.Selector

	// Condition, if set, is the type of the condition whose observedGeneration counts, in
	// place of the status's own. An object without that condition, or whose condition has
	// no observedGeneration, has not been seen: a kind that never reports one, as Jobs,
	// lags as a whole.
	Condition string

	// Ignore, if set, tells of an object whether the controller leaves it alone, by what no
	// label says: that it is suspended, or another controller's. It is called with whole
	// objects, by one goroutine, and must not change them. A page with such objects on it is
	// read in full each time.
	Ignore func(*unstructured.Unstructured) bool
}

// generationTarget is what is read.
type generationTarget struct {
	gvk       schema.GroupVersionKind
	namespace string
	selector  labels.Selector
	condition string
	ignore    func(*unstructured.Unstructured) bool
}

// generationTargets checks the kinds, and names them.
func generationTargets(kinds []GenerationKind, scheme *runtime.Scheme) ([]generationTarget, error) {
	if len(kinds) == 0 {
		return nil, errors.New("reconcile: NewGenerations wants at least one GenerationKind, got none")
	}
	var targets []generationTarget
	type place struct {
		gvk       schema.GroupVersionKind
		namespace string
	}
	seen := map[place]bool{}
	for i, k := range kinds {
		if isNil(k.Object) {
			return nil, fmt.Errorf("reconcile: GenerationKind.Object of kind %d is nil, but must name it", i)
		}
		gvk, err := apiutil.GVKForObject(k.Object, scheme)
		if err != nil {
			return nil, fmt.Errorf("reconcile: GenerationKind.Object of kind %d is a %T, but must be of a kind that the scheme knows, or say which: %w", i, k.Object, err)
		}
		id := place{gvk, k.Namespace}
		if seen[id] {
			return nil, fmt.Errorf("reconcile: GenerationKind.Object of kind %d is %v in namespace %q, but each kind must be given once for a namespace, since they would share their metrics", i, gvk, k.Namespace)
		}
		seen[id] = true
		if k.Selector != nil {
			if _, selects := k.Selector.Requirements(); !selects {
				return nil, fmt.Errorf("reconcile: GenerationKind.Selector of kind %d selects nothing, as labels.Nothing does, but must select something: leave it nil for all objects", i)
			}
		}
		targets = append(targets, generationTarget{gvk: gvk, namespace: k.Namespace, selector: k.Selector, condition: k.Condition, ignore: k.Ignore})
	}
	return targets, nil
}

// guess is the resource's name until the API server has told it: the metrics of a kind
// that is not served have one too.
func (t generationTarget) guess() schema.GroupVersionResource {
	plural, _ := meta.UnsafeGuessKindToResource(t.gvk)
	return plural
}

// options are those of a list of the target: no resourceVersion, since what a watch
// cache has may be as old as what the controller has seen.
func (t generationTarget) options(limit int64, token string) *client.ListOptions {
	return &client.ListOptions{Namespace: t.namespace, LabelSelector: t.selector, Limit: limit, Continue: token}
}
