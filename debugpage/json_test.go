// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/internal/snapshots"
)

// TestJSON: the answer is the snapshot, and nothing is lost on the way.
func TestJSON(t *testing.T) {
	for name, s := range map[string]flightrecorder.Snapshot{
		"healthy": snapshots.Healthy(), "stalled": snapshots.Stalled(), "troubled": snapshots.Troubled(), "empty": snapshots.Empty(),
	} {
		r := get(newPage(t, s), "/?format=json")
		if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s, %s", name, r.Status, r.Header.Get("Content-Type"))
		}
		text := body(t, r)
		var there any
		if err := json.Unmarshal([]byte(text), &there); err != nil {
			t.Fatal(err)
		}
		var back bytes.Buffer
		if err := json.Indent(&back, []byte(text), "", "  "); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", back.String())

		again, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want any
		if err := json.Unmarshal(again, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, there); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestJSONOfWhatAProgramReads decodes what the documents show jq to read.
func TestJSONOfWhatAProgramReads(t *testing.T) {
	var got struct {
		Time      time.Time
		Healthy   bool
		Diagnosis string
		Informers []struct {
			Name                  string
			Verdict               string
			StalenessBoundSeconds float64
			LimitSeconds          float64
		}
		Incidents []struct {
			ID       int
			Ended    *time.Time
			Layer    string
			Evidence struct {
				Cures []struct{ Cure string }
			}
		}
	}
	if err := json.Unmarshal([]byte(body(t, get(newPage(t, snapshots.Stalled()), "/?format=json"))), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Time.Equal(snapshots.Now()) || got.Healthy || !strings.HasPrefix(got.Diagnosis, "The watch of configmaps/v1 in prod") {
		t.Errorf("%+v", got)
	}
	if in := got.Informers[0]; in.Name != "configmaps/v1 in prod" || in.Verdict != "Stalled" || in.StalenessBoundSeconds != 88.9 || in.LimitSeconds != 75 {
		t.Errorf("%+v", in)
	}
	if i := got.Incidents[0]; i.ID != 7 || i.Ended != nil || i.Layer != "stream" || i.Evidence.Cures[1].Cure != "relist" {
		t.Errorf("%+v", i)
	}
	if i := got.Incidents[1]; i.Ended == nil {
		t.Errorf("%+v", i)
	}
}

// TestNoSecrets pins every field that is served. One that is added has to be looked at:
// whether it may hold what is secret, and whether the page should show it.
func TestNoSecrets(t *testing.T) {
	var fields []string
	list(reflect.TypeFor[flightrecorder.Snapshot](), "", &fields)
	slices.Sort(fields)
	golden(t, "fields.txt", strings.Join(fields, "\n")+"\n")
	secret := regexp.MustCompile(`(?i)token|secret|passw|credential|authoriz|header|cookie|query|url|body|content|object\b|annotation|label|env\b`)
	for _, f := range fields {
		if secret.MatchString(f) {
			t.Errorf("a field called %s may hold what is secret", f)
		}
	}
}

// list names the fields below a type, with what they hold.
func list(of reflect.Type, path string, out *[]string) {
	switch of.Kind() {
	case reflect.Struct:
		if of == reflect.TypeFor[time.Time]() {
			break
		}
		for f := range of.Fields() {
			if !f.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				name = f.Name
			}
			list(f.Type, path+"."+name, out)
		}
		return
	case reflect.Slice, reflect.Pointer:
		list(of.Elem(), path, out)
		return
	case reflect.Map:
		list(of.Elem(), path+".*", out)
		return
	default:
	}
	*out = append(*out, fmt.Sprintf("%s %s", strings.TrimPrefix(path, "."), of))
}

// TestPageHoldsNoMore: the page is made of the snapshot and nothing else, so what is not in
// that cannot be on it.
func TestPageHoldsNoMore(t *testing.T) {
	t.Setenv("FRESHWATCH_CANARY_SECRET", "zzsecretzz")
	for _, target := range []string{"/", "/?format=json"} {
		if strings.Contains(body(t, get(newPage(t, snapshots.Troubled()), target)), "zzsecretzz") {
			t.Errorf("%s holds the environment", target)
		}
	}
}
