// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"fmt"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// serve serves one request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		writeError(w, errStopped)
		return
	}
	defer s.handlers.Done()
	query := r.URL.Query()
	t := parseTarget(r, query)
	w = &answer{ResponseWriter: w, answered: s.log.add(newRequest(s.cl.clock.Now(), t, r, query))}

	err := s.admit(r, t)
	switch {
	case t.verb == "watch" && apierrors.IsResourceExpired(err):
		// kube-apiserver refuses an RV only once the stream has begun.
		s.writeWatchError(w, err)
		return
	case err == nil && t.gvr.Empty():
		err = s.serveDiscovery(w, r)
	case err == nil && t.gvr == accessReviewKind().GVR():
		err = s.serveAccessReview(w, r, t)
	case err == nil:
		err = s.serveResource(w, r, t, query)
	}
	if err != nil {
		writeError(w, err)
	}
}

// admit authenticates and authorizes a request, and answers it by script if there is one for it.
func (s *Server) admit(r *http.Request, t target) error {
	if r.Header.Get("Authorization") != "Bearer "+s.cl.options.Token {
		return apierrors.NewUnauthorized("Unauthorized")
	}
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	if f := s.cl.strike(respond, t.gvr, t.namespace, t.verb); f != nil {
		return scripted(f.code, t)
	}
	if f := s.cl.strike(deny, t.gvr, t.namespace, t.verb); f != nil {
		reason := fmt.Errorf("cannot %s resource %q", t.verb, t.gvr.Resource)
		return apierrors.NewForbidden(t.gvr.GroupResource(), t.name, reason)
	}
	return nil
}

// serveResource serves what is about objects.
func (s *Server) serveResource(w http.ResponseWriter, r *http.Request, t target, query url.Values) error {
	c, ok := s.cl.caches[t.gvr]
	if !ok || !c.kind.serves(t) {
		return notServed(r)
	}
	form, err := negotiate(r)
	if err != nil {
		return err
	}
	if query.Has("dryRun") {
		return errDryRun
	}
	call := call{Server: s, cache: c, target: t, form: form}
	switch t.verb {
	case "get":
		return call.get(w, r, query.Get("resourceVersion"))
	case "create":
		return call.create(w, r)
	case "update":
		return call.update(w, r)
	case "patch":
		return call.patch(w, r)
	case "delete":
		return call.delete(w, r)
	case "list", "watch", "deletecollection":
		opts, sel, err := call.listOptions(query)
		if err != nil {
			return err
		}
		switch t.verb {
		case "list":
			return call.list(w, r, opts, sel)
		case "watch":
			return call.watch(w, r, opts, sel)
		}
		return call.deleteCollection(w, r, sel)
	}
	return apierrors.NewMethodNotSupported(t.gvr.GroupResource(), t.verb)
}

// serves reports whether the path of a target makes sense for the kind.
func (k Kind) serves(t target) bool {
	switch {
	case t.namespace != "" && !k.Namespaced:
		return false
	case t.namespace == "" && k.Namespaced && t.name != "":
		return false
	case t.subresource == "status":
		return k.Status && (t.verb == "get" || t.verb == "update" || t.verb == "patch")
	default:
		return t.subresource == ""
	}
}

// listOptions reads the query of a list, a watch or a deletion of many, with kube-apiserver's checks.
func (c call) listOptions(query url.Values) (*internalversion.ListOptions, selector, error) {
	opts := &internalversion.ListOptions{}
	if err := internalscheme.ParameterCodec.DecodeParameters(query, metav1.SchemeGroupVersion, opts); err != nil {
		return nil, selector{}, apierrors.NewBadRequest(err.Error())
	}
	internalversion.SetListOptionsDefaults(opts, true)
	if errs := validation.ValidateListOptions(opts, true); len(errs) > 0 {
		return nil, selector{}, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
	}
	if _, err := parseRV(opts.ResourceVersion); err != nil {
		return nil, selector{}, err
	}
	if c.target.name != "" { // a watch of one object
		opts.FieldSelector = fields.OneTermEqualSelector("metadata.name", c.target.name)
	}
	sel, err := newSelector(c.cache.kind, c.target.namespace, opts.LabelSelector, opts.FieldSelector)
	return opts, sel, err
}

// enter registers a request that is being served, unless the server is closed.
func (s *Server) enter() bool {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	if s.closed {
		return false
	}
	s.handlers.Add(1)
	return true
}
