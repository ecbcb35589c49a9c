// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"io"
	"mime"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// call is a request about objects of one kind. Its methods answer it, or return the error to answer with.
type call struct {
	*Server
	cache  *watchCache
	target target
	form   representation
}

func (c call) key() key { return key{namespace: c.target.namespace, name: c.target.name} }

// scope returns what of the object the request may change.
func (c call) scope() scope {
	if c.target.subresource == "status" {
		return statusOnly
	}
	return mainResource
}

func (c call) writeObject(w http.ResponseWriter, code int, obj *unstructured.Unstructured) {
	writeJSON(w, code, c.form.object(obj))
}

func (c call) get(w http.ResponseWriter, r *http.Request, resourceVersion string) error {
	obj, err := c.cl.get(r.Context(), c.cache, c.key(), resourceVersion)
	if err != nil {
		return err
	}
	c.writeObject(w, http.StatusOK, obj)
	return nil
}

func (c call) list(w http.ResponseWriter, r *http.Request, opts *internalversion.ListOptions, sel selector) error {
	p, err := c.cl.list(r.Context(), c.cache, sel, opts)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, c.form.list(c.cache.kind, p))
	return nil
}

func (c call) create(w http.ResponseWriter, r *http.Request) error {
	if c.cache.kind.Namespaced && c.target.namespace == "" {
		return apierrors.NewMethodNotSupported(c.cache.kind.groupResource(), c.target.verb)
	}
	obj, err := c.cl.readObject(r, c.target)
	if err != nil {
		return err
	}
	if c.cache.kind.Status {
		delete(obj.Object, "status")
	}
	if obj, err = c.cl.create(c.cache, obj); err != nil {
		return err
	}
	c.writeObject(w, http.StatusCreated, obj)
	return nil
}

func (c call) update(w http.ResponseWriter, r *http.Request) error {
	next, err := c.cl.readObject(r, c.target)
	if err != nil {
		return err
	}
	obj, err := c.cl.update(c.cache, c.key(), c.scope(), replaceWith(next))
	if err != nil {
		return err
	}
	c.writeObject(w, http.StatusOK, obj)
	return nil
}

func (c call) patch(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	obj, created, err := c.cl.patch(c.cache, c.key(), c.scope(), types.PatchType(mediaType), body)
	if err != nil {
		return err
	}
	code := http.StatusOK
	if created {
		code = http.StatusCreated
	}
	c.writeObject(w, code, obj)
	return nil
}

func (c call) delete(w http.ResponseWriter, r *http.Request) error {
	conditions, err := c.cl.preconditions(r)
	if err != nil {
		return err
	}
	left, err := c.cl.delete(c.cache, c.key(), conditions)
	if err != nil {
		return err
	}
	if left != nil {
		c.writeObject(w, http.StatusOK, left)
		return nil
	}
	c.writeSuccess(w)
	return nil
}

func (c call) deleteCollection(w http.ResponseWriter, r *http.Request, sel selector) error {
	conditions, err := c.cl.preconditions(r)
	if err != nil {
		return err
	}
	p, err := c.cl.list(r.Context(), c.cache, sel, &internalversion.ListOptions{})
	if err != nil {
		return err
	}
	for _, obj := range p.items {
		if _, err := c.cl.delete(c.cache, keyOf(obj), conditions); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	c.writeSuccess(w)
	return nil
}

func (c call) writeSuccess(w http.ResponseWriter) {
	writeJSON(w, http.StatusOK, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusSuccess,
		Details:  &metav1.StatusDetails{Name: c.target.name, Group: c.target.gvr.Group, Kind: c.target.gvr.Resource},
	})
}
