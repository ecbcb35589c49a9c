// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"fmt"
	"io"
	"mime"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// readObject reads the object in the body of a request, in JSON, YAML or protobuf, and puts it under the names of the
// path.
func (cl *cluster) readObject(r *http.Request, t target) (*unstructured.Unstructured, error) {
	obj, err := cl.decode(r)
	if err != nil {
		return nil, err
	}
	if obj.GetNamespace() == "" && t.namespace != "" {
		obj.SetNamespace(t.namespace)
	}
	if ns := obj.GetNamespace(); ns != t.namespace {
		return nil, apierrors.NewBadRequest(fmt.Sprintf(
			"the namespace of the object (%q) does not match the namespace on the URL (%q)", ns, t.namespace))
	}
	if name := obj.GetName(); t.name != "" && name != t.name {
		return nil, apierrors.NewBadRequest(fmt.Sprintf(
			"the name of the object (%q) does not match the name on the URL (%q)", name, t.name))
	}
	return obj, nil
}

// decode reads the body as an object without a schema. An empty body is an empty object.
func (cl *cluster) decode(r *http.Request) (*unstructured.Unstructured, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error reading the body: %v", err))
	}
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch mediaType {
	case runtime.ContentTypeProtobuf:
		typed, _, err := protobuf.NewSerializer(cl.options.Scheme, cl.options.Scheme).Decode(body, nil, nil)
		if err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding the body: %v", err))
		}
		return toUnstructured(cl.options.Scheme, typed)
	case runtime.ContentTypeYAML:
		if body, err = yaml.YAMLToJSON(body); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding the body: %v", err))
		}
	case runtime.ContentTypeJSON, "":
	default:
		return nil, unsupportedMedia(mediaType)
	}
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	if len(body) == 0 {
		return obj, nil
	}
	if err := json.Unmarshal(body, &obj.Object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding the body: %v", err))
	}
	return obj, nil
}

// preconditions reads those of DeleteOptions in the body.
func (cl *cluster) preconditions(r *http.Request) (*metav1.Preconditions, error) {
	body, err := cl.decode(r)
	if err != nil {
		return nil, err
	}
	var options metav1.DeleteOptions
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(body.Object, &options); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding DeleteOptions: %v", err))
	}
	if len(options.DryRun) > 0 {
		return nil, errDryRun
	}
	return options.Preconditions, nil
}

var errDryRun = apierrors.NewBadRequest("this server has no dry run")

// toUnstructured returns a copy of obj without a schema, with the apiVersion and kind that the scheme has for it.
func toUnstructured(scheme *runtime.Scheme, obj runtime.Object) (*unstructured.Unstructured, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u.DeepCopy(), nil
	}
	gvks, _, err := scheme.ObjectKinds(obj)
	if err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvks[0])
	return u, nil
}
