// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
)

const file = "freshwatch.json"

var update = flag.Bool("update", false, "write "+file)

func made(t *testing.T) Dashboard {
	t.Helper()
	d, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFileIsWhatIsMade(t *testing.T) {
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(made(t)); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("%s is not what is made (-made +file), run go test . -update in dashboards\n%s", file, diff)
	}
}

// What Grafana reads is what it is meant to be: a file with fields that are unknown, or
// missing, would be shown all the same.
func TestFileIsUnderstood(t *testing.T) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var d Dashboard
	var none cog.BuildErrors // which the SDK returns as an error, too
	if err := d.UnmarshalJSONStrict(text); err != nil && (!errors.As(err, &none) || len(none) > 0) {
		t.Error(err)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
}

// place is a cell of the grid.
type place struct{ x, y uint32 }

func TestPanels(t *testing.T) {
	ids, titles, taken := map[uint32]bool{}, map[string]bool{}, map[place]string{}
	row, panels := "", 0
	for _, item := range made(t).Panels {
		if item.RowPanel != nil {
			row = *item.RowPanel.Title
			if ids[item.RowPanel.Id] {
				t.Errorf("row %q: its ID is taken", row)
			}
			ids[item.RowPanel.Id] = true
			continue
		}
		p := item.Panel
		panels++
		title := row + " " + *p.Title
		if *p.Title == "" || p.Description == nil || *p.Description == "" || p.FieldConfig.Defaults.Unit == nil || *p.FieldConfig.Defaults.Unit == "" {
			t.Errorf("%s: title, description or unit is missing", title)
		}
		if ids[*p.Id] || titles[title] {
			t.Errorf("%s: its ID or title is taken", title)
		}
		ids[*p.Id], titles[title] = true, true
		if p.Datasource == nil || *p.Datasource.Uid != "${datasource}" {
			t.Errorf("%s: its data source is %+v, not the one that is chosen", title, p.Datasource)
		}
		if len(p.Targets) == 0 {
			t.Errorf("%s asks nothing", title)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				at := place{x, y}
				if other := taken[at]; other != "" || x >= 24 {
					t.Fatalf("%s is where %q is, or beside the grid", title, other)
				}
				taken[at] = title
			}
		}
	}
	if panels < 25 {
		t.Errorf("%d panels: this test has missed some", panels)
	}
}
