// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"mime"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// representation is the form in which a client wants objects.
type representation int

const (
	asObject representation = iota
	asMetadata
	asTable
)

// negotiate returns the first form in the Accept header that the server speaks. That is always JSON: clients that would
// rather have protobuf or CBOR name JSON too.
func negotiate(r *http.Request) (representation, error) {
	accept := r.Header.Get("Accept")
	if accept == "" {
		return asObject, nil
	}
	for clause := range strings.SplitSeq(accept, ",") {
		mediaType, params, err := mime.ParseMediaType(strings.TrimSpace(clause))
		if err != nil || mediaType != "application/json" && mediaType != "application/*" && mediaType != "*/*" {
			continue
		}
		switch as := params["as"]; {
		case as == "":
			return asObject, nil
		case params["g"] != metav1.GroupName || params["v"] != "v1":
		case as == "PartialObjectMetadata", as == "PartialObjectMetadataList":
			return asMetadata, nil
		case as == "Table":
			return asTable, nil
		}
	}
	return asObject, apierrors.NewGenericServerResponse(http.StatusNotAcceptable, "", schema.GroupResource{}, "",
		"only the following media types are accepted: application/json", 0, true)
}

func metaV1() string { return metav1.SchemeGroupVersion.String() }

// object returns one object in the form.
func (form representation) object(obj *unstructured.Unstructured) map[string]any {
	switch form {
	case asMetadata:
		return map[string]any{"kind": "PartialObjectMetadata", "apiVersion": metaV1(), "metadata": obj.Object["metadata"]}
	case asTable:
		return tableOf([]*unstructured.Unstructured{obj}, map[string]any{"resourceVersion": obj.GetResourceVersion()})
	default:
		return obj.Object
	}
}

// list returns a page of a kind in the form.
func (form representation) list(kind Kind, p *page) map[string]any {
	meta := map[string]any{"resourceVersion": formatRV(p.rv)}
	if p.next != "" {
		meta["continue"] = p.next
	}
	if p.remained != nil {
		meta["remainingItemCount"] = *p.remained
	}
	if form == asTable {
		return tableOf(p.items, meta)
	}
	items := make([]any, 0, len(p.items))
	for _, obj := range p.items {
		items = append(items, form.object(obj))
	}
	if form == asMetadata {
		return map[string]any{
			"kind": "PartialObjectMetadataList", "apiVersion": metaV1(), "metadata": meta, "items": items,
		}
	}
	return map[string]any{
		"kind": kind.Kind + "List", "apiVersion": kind.groupVersion().String(), "metadata": meta, "items": items,
	}
}

// tableOf returns objects as rows of a name and an age, which is what kube-apiserver has for kinds without columns.
func tableOf(objs []*unstructured.Unstructured, meta map[string]any) map[string]any {
	rows := make([]any, 0, len(objs))
	for _, obj := range objs {
		rows = append(rows, map[string]any{
			"cells":  []any{obj.GetName(), obj.GetCreationTimestamp().UTC()},
			"object": asMetadata.object(obj),
		})
	}
	return map[string]any{
		"kind": "Table", "apiVersion": metaV1(), "metadata": meta, "rows": rows,
		"columnDefinitions": []any{
			map[string]any{"name": "Name", "type": "string", "format": "name"},
			map[string]any{"name": "Created At", "type": "date"},
		},
	}
}
