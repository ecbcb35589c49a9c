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
	"sigs.k8s.io/yaml"
)

// patch changes the object under k by a patch of the given type. A server-side apply of an object that does not exist
// creates it; created says so.
func (cl *cluster) patch(c *watchCache, k key, part scope, patchType types.PatchType, body []byte) (obj *unstructured.Unstructured, created bool, err error) {
	apply, err := cl.patcher(c.kind, patchType, body)
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
	obj, err = cl.createLocked(c, obj)
	return obj, true, err
}

type patchFunc = func(*unstructured.Unstructured) (*unstructured.Unstructured, error)

// patcher returns the function that applies the patch to an object that it may change.
func (cl *cluster) patcher(kind Kind, patchType types.PatchType, body []byte) (patchFunc, error) {
	var changes map[string]any
	if patchType == types.ApplyYAMLPatchType {
		var err error
		if body, err = yaml.YAMLToJSON(body); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
		}
	}
	if err := json.Unmarshal(body, &changes); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	switch patchType {
	case types.MergePatchType, types.ApplyYAMLPatchType:
		return func(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			obj.Object = mergePatch(obj.Object, changes).(map[string]any)
			return obj, nil
		}, nil
	case types.StrategicMergePatchType:
		typed, err := cl.options.Scheme.New(kind.GVK())
		if err != nil {
			return nil, unsupportedMedia(string(patchType))
		}
		return func(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			merged, err := strategicpatch.StrategicMergeMapPatch(obj.Object, changes, typed)
			if err != nil {
				return nil, apierrors.NewBadRequest(err.Error())
			}
			return &unstructured.Unstructured{Object: merged}, nil
		}, nil
	default:
		return nil, unsupportedMedia(string(patchType))
	}
}

// mergePatch applies a JSON merge patch (RFC 7386): objects are merged, null removes, all else replaces.
func mergePatch(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	object, ok := target.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	for name, value := range changes {
		if value == nil {
			delete(object, name)
		} else {
			object[name] = mergePatch(object[name], value)
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
