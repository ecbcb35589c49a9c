// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"maps"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/freshwatch/freshwatch/internal/snapshots"
)

const hostile = `zz"'><script>alert(1)</script><img src=x onerror=alert(1)></title></style>--><a href="javascript:alert(1)">{{.}}` + "\x00\u202e\xff`${1}\n"

// TestHostileTexts puts what an attacker would into every text of a snapshot, one by one:
// the page has the elements and the attributes that it has otherwise.
func TestHostileTexts(t *testing.T) {
	clean := snapshots.Troubled()
	poisoned := 0
	texts(reflect.ValueOf(&clean).Elem(), "", func(string, func(string)) { poisoned++ })
	if poisoned < 200 {
		t.Fatalf("only %d texts in a snapshot", poisoned)
	}
	// A text may be one that decides what is shown, so that the page without it is not the
	// one to compare with: a harmless one in its place is.
	shape := func(put string, which int) (map[string]int, string) {
		s := snapshots.Troubled()
		n, path := 0, ""
		texts(reflect.ValueOf(&s).Elem(), "", func(p string, set func(string)) {
			if n == which {
				set(put)
				path = p
			}
			n++
		})
		return elements(t, body(t, get(newPage(t, s), "/"))), path
	}
	for i := range poisoned {
		want, path := shape("zzharmless", i)
		got, _ := shape(hostile, i)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s changes what the page is made of (-want +got):\n%s", path, diff)
		}
	}
}

// TestHostileOptions: so does a title, and a link.
func TestHostileOptions(t *testing.T) {
	h, err := New(Options{Recorder: still(snapshots.Healthy()), Title: hostile[:60], Links: []Link{{Text: hostile, URL: "/?q=\"><script>"}}})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := New(Options{Recorder: still(snapshots.Healthy()), Title: "x", Links: []Link{{Text: "x", URL: "/?q=%22%3e%3cscript%3e"}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(elements(t, body(t, get(plain, "/"))), elements(t, body(t, get(h, "/")))); diff != "" {
		t.Errorf("changes what the page is made of (-want +got):\n%s", diff)
	}
}

// TestElementsSeesMarkup is the control of the tests above.
func TestElementsSeesMarkup(t *testing.T) {
	page := body(t, get(newPage(t, snapshots.Healthy()), "/"))
	got := elements(t, strings.Replace(page, "writes come back", "<b>writes</b> come back", 1))
	if maps.Equal(elements(t, page), got) {
		t.Error("markup in a text is not seen")
	}
}

var ofAScene = regexp.MustCompile(`^(informer|incident)-[0-9a-z-]+$`)

// elements counts elements with the names of their attributes. Folding is no matter, and
// neither are entries of a log or rows of a list that a text brings with it.
func elements(t *testing.T, page string) map[string]int {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		key := n.Data
		for _, a := range n.Attr {
			key += " " + a.Key
			if a.Key == "id" && ofAScene.MatchString(a.Val) {
				continue
			}
			if a.Key == "href" || a.Key == "src" || a.Key == "id" || strings.HasPrefix(a.Key, "on") {
				key += "=" + a.Val
			}
		}
		out[key]++
	}
	return out
}
