// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// patch changes the object under k by a patch of the given type. A server-side apply of an object that does not exist
// creates it; created says so.
func (cl *cluster) patch(
	c *watchCache, k key, part scope, patchType types.PatchType, body []byte,
) (obj *unstructured.Unstructured, created bool, err error) {
	apply, err := patcher(c.kind, patchType, body)
	if err != nil {
		return nil, false, err
	}
	cl.mu.Lock()
	defer cl.mu.Unlock()
	obj, err = cl.updateLocked(c, k, part, apply)
	if patchType != types.ApplyPatchType || part == statusOnly || !apierrors.IsNotFound(err) {
		return obj, false, err
	}
	blank := &unstructured.Unstructured{Object: map[string]any{}}
	blank.SetName(k.name)
	if k.namespace != "" {
		blank.SetNamespace(k.namespace)
	}
	if obj, err = apply(blank); err != nil {
		return nil, false, err
	}
	if c.kind.Status {
		delete(obj.Object, "status")
	}
	obj, err = cl.createLocked(c, obj)
	return obj, true, err
}

// patcher returns the function that applies the patch to an object that it may change.
func patcher(kind Kind, patchType types.PatchType, body []byte) (changeFunc, error) {
	switch patchType {
	case types.MergePatchType, types.ApplyYAMLPatchType:
		changes, err := decodePatch(body)
		return func(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			return &unstructured.Unstructured{Object: mergeObject(obj.Object, changes)}, nil
		}, err
	case types.StrategicMergePatchType:
		typed, err := scheme.Scheme.New(kind.GVK())
		if err != nil {
			return nil, unsupportedMedia(string(patchType)) // the type holds the strategy
		}
		changes, err := decodePatch(body)
		return func(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			merged, err := strategicpatch.StrategicMergeMapPatch(obj.Object, changes, typed)
			if err != nil {
				return nil, apierrors.NewBadRequest(err.Error())
			}
			return &unstructured.Unstructured{Object: merged}, nil
		}, err
	default:
		return nil, unsupportedMedia(string(patchType))
	}
}

// decodePatch reads a patch in YAML, and so in JSON.
func decodePatch(body []byte) (changes map[string]any, err error) {
	body, err = yaml.YAMLToJSON(body)
	if err == nil {
		err = json.Unmarshal(body, &changes)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	return changes, nil
}

// mergeObject applies a JSON merge patch (RFC 7386) to an object: objects are merged, null removes, all else replaces.
func mergeObject(object, changes map[string]any) map[string]any {
	if object == nil {
		object = map[string]any{}
	}
	for name, value := range changes {
		switch value := value.(type) {
		case nil:
			delete(object, name)
		case map[string]any:
			inner, _ := object[name].(map[string]any) // what is no object is replaced
			object[name] = mergeObject(inner, value)
		default:
			object[name] = value
		}
	}
	return object
}

// unsupportedMedia is the answer to a patch type or encoding that is not served.
func unsupportedMedia(mediaType string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusUnsupportedMediaType,
		Reason:  metav1.StatusReasonUnsupportedMediaType,
		Message: fmt.Sprintf("the body of the request was in an unknown format - %q is not supported", mediaType),
	}}
}
