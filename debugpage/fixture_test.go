// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/flightrecorder"
)

var update = flag.Bool("update", false, "write the golden files anew")

// still is a recorder that always holds the same.
type still flightrecorder.Snapshot

// Snapshot implements Options.Recorder.
func (s still) Snapshot() flightrecorder.Snapshot { return flightrecorder.Snapshot(s) }

func newPage(t testing.TB, s flightrecorder.Snapshot) http.Handler {
	t.Helper()
	h, err := New(Options{Recorder: still(s), Title: "inference-operator", Links: []Link{{Text: "Dashboard", URL: "https://grafana.example.com/d/freshwatch"}}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// get asks for a page. headers are names and values in turn.
func get(h http.Handler, target string, headers ...string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, target, http.NoBody)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// golden compares got with a file, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), go test -update writes it anew:\n%s", file, diff)
	}
}

// texts calls f with the path of every string in a snapshot, and what sets it.
func texts(v reflect.Value, path string, f func(path string, set func(string))) {
	switch v.Kind() {
	case reflect.String:
		f(path, v.SetString)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				texts(v.Field(i), path+"."+field.Name, f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			texts(v.Index(i), path+"["+strconv.Itoa(i)+"]", f)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			texts(v.Elem(), path, f)
		}
	case reflect.Map:
		if cures, ok := reflect.TypeAssert[map[string]flightrecorder.CureSum](v); ok {
			f(path, func(s string) { cures[s] = flightrecorder.CureSum{Tried: 1} })
		}
	default:
	}
}
