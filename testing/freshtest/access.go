// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"fmt"
	"net/http"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// accessReviewKind is the one kind that is answered without being stored.
func accessReviewKind() Kind {
	return Kind{
		Group: authorizationv1.GroupName, Version: "v1",
		Kind: "SelfSubjectAccessReview", Resource: "selfsubjectaccessreviews",
	}
}

// serveAccessReview answers whether the client may do something: it may, unless a Deny says otherwise.
func (s *Server) serveAccessReview(w http.ResponseWriter, r *http.Request, t target) error {
	if t.verb != "create" {
		return apierrors.NewMethodNotSupported(t.gvr.GroupResource(), t.verb)
	}
	body, err := s.cl.decode(r)
	if err != nil {
		return err
	}
	var review authorizationv1.SelfSubjectAccessReview
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(body.Object, &review); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("error decoding SelfSubjectAccessReview: %v", err))
	}
	review.SetGroupVersionKind(accessReviewKind().GVK())
	review.Status = authorizationv1.SubjectAccessReviewStatus{Allowed: true}
	if a := review.Spec.ResourceAttributes; a != nil && s.denied(a) {
		review.Status = authorizationv1.SubjectAccessReviewStatus{Reason: "denied by the test"}
	}
	writeJSON(w, http.StatusCreated, review)
	return nil
}

// denied reports whether a Deny is about what a review asks. A review without a version is about every version.
func (s *Server) denied(a *authorizationv1.ResourceAttributes) bool {
	s.cl.mu.Lock()
	defer s.cl.mu.Unlock()
	for _, f := range s.cl.faults {
		gvr := schema.GroupVersionResource{Group: a.Group, Version: a.Version, Resource: a.Resource}
		if a.Version == "" || a.Version == "*" {
			gvr.Version = f.gvr.Version
		}
		if f.kind == deny && f.matches(gvr, a.Namespace, a.Verb) {
			return true
		}
	}
	return false
}
