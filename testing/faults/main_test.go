// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"
)

// TestMain plays the other process when a row asks for one.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // as main does, before anybody logs
	if job := os.Getenv(helperJob); job != "" {
		if err := playHelper(job, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "faults: helper:", err)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// fastLimit is what the fast subset may take once there is a control plane to
// start: 2.5 minutes, and again as much where other tests have the processors.
const fastLimit = 5 * time.Minute

// TestFastSubset runs what continuous integration runs.
func TestFastSubset(t *testing.T) {
	realServerTest(t)
	status, results, told := runSuite(t, "-fast")
	if status != kept {
		t.Errorf("exit status %d, want %d:\n%s", status, kept, told)
	}
	if len(results) < 6 {
		t.Errorf("%d rows, want a subset that is worth the name", len(results))
	}
}

// TestGuardOffFails plays faults without the guard. The suite has to object, and not
// because it could not play them.
func TestGuardOffFails(t *testing.T) {
	realServerTest(t)
	status, results, output := runSuite(t, "-fast", "-guard=off", "-only", "1,3-short,14")
	if status != broken {
		t.Errorf("exit status %d, want %d:\n%s", status, broken, output)
	}
	for _, r := range results {
		if ok, told := r["ok"].(bool); ok || !told {
			t.Errorf("row %v is ok without a guard:\n%s", r["id"], output)
		}
	}
	if strings.Contains(output, "could not be played") {
		t.Errorf("a row could not be played:\n%s", output)
	}
}

func realServerTest(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real kube-apiserver and minutes, which -short asks to leave out")
	}
	t.Parallel()
}

// runSuite runs the program in this process, and returns the rows of its JSON and
// all that it wrote.
func runSuite(t *testing.T, args ...string) (status int, results []map[string]any, told string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "faults.json")
	var stdout, stderr bytes.Buffer
	args = append(args, "-timeout", fastLimit.String(), "-json", file)
	status = run(t.Context(), args, &stdout, &stderr)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v:\n%s", err, stderr.String())
	}
	if err := json.Unmarshal(text, &results); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return status, results, stdout.String() + stderr.String()
}

func TestMisuse(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		want []string
	}{
		{"unknown row", []string{"-only", "1,77"}, []string{`"77"`, "3-all", "N19"}},
		{"unknown flag", []string{"-quick"}, []string{"-quick", "-h"}},
		{"argument", []string{"fast"}, []string{`"fast"`}},
		{"guard", []string{"-guard=maybe"}, []string{"on, off"}},
		{"version", []string{"-version", "1.2"}, []string{"1.34, 1.35"}},
		{"row of another version", []string{"-version", "1.34", "-only", "9-refused"}, []string{`"9-refused"`}},
		{"parallel", []string{"-parallel", "0"}, []string{"at least 1"}},
		{"timeout", []string{"-timeout", "0s"}, []string{"positive"}},
		{"file", []string{"-json", filepath.Join("no", "such", "directory")}, []string{"no such file"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := run(t.Context(), tc.args, &stdout, &stderr); status != misused {
				t.Errorf("exit status %d, want %d", status, misused)
			}
			for _, word := range tc.want {
				if !strings.Contains(stderr.String(), word) {
					t.Errorf("it says %q, without %q", stderr.String(), word)
				}
			}
		})
	}
}

func TestUsageNamesEveryFlag(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), []string{"-h"}, &stdout, &stderr); status != kept {
		t.Errorf("exit status %d, want %d", status, kept)
	}
	for _, name := range []string{"-only", "-fast", "-json", "-markdown", "-guard", "-parallel", "-timeout", "-version", "-list", "-v "} {
		if !strings.Contains(stdout.String(), "  "+name) {
			t.Errorf("-h does not tell of %s", name)
		}
	}
}

func TestList(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), []string{"-list"}, &stdout, &stderr); status != kept {
		t.Errorf("exit status %d, want %d", status, kept)
	}
	for _, r := range rows() {
		if !strings.Contains(stdout.String(), r.fault) {
			t.Errorf("-list does not tell of row %s", r.id)
		}
	}
}

func TestChoose(t *testing.T) {
	all := []*row{{id: "a"}, {id: "b", fast: true}, {id: "c", fast: true, job: job{MaxStaleness: time.Minute}}}
	for _, tc := range []struct {
		name string
		fast bool
		only []string
		want []string
	}{
		{"all", false, nil, []string{"a", "b", "c"}},
		{"fast", true, nil, []string{"b", "c"}},
		{"only", false, []string{"c", "a"}, []string{"a", "c"}},
		{"only, though it is not of the subset", true, []string{"a"}, []string{"a"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			chosen, err := choose(all, tc.fast, tc.only)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range chosen {
				got = append(got, r.id)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
	if all[1].job.MaxStaleness != fastStaleness || all[2].job.MaxStaleness != time.Minute {
		t.Errorf("MaxStaleness in the fast subset is %v and %v", all[1].job.MaxStaleness, all[2].job.MaxStaleness)
	}
}

// TestRows holds the table to what its readers rely on.
func TestRows(t *testing.T) {
	seen, kinds := map[string]bool{}, map[string]bool{}
	for _, r := range rows() {
		if seen[r.id] || kinds[r.job.Kind.Name] {
			t.Errorf("row %s, of kind %s, is not the only one of these names", r.id, r.job.Kind.Name)
		}
		seen[r.id], kinds[r.job.Kind.Name] = true, true
		if r.fault == "" || r.want.healed == 0 {
			t.Errorf("row %s does not say what it is, or when it wants the edit to be seen", r.id)
		}
		if r.strike == nil && r.lasts == 0 {
			t.Errorf("row %s is neither a fault nor a time without one", r.id)
		}
		if r.want.inTime && r.editLater {
			t.Errorf("row %s wants an edit to be seen in time that is made afterwards", r.id)
		}
		if r.control() && !slices.Equal(r.want.may, renewal()) {
			t.Errorf("control %s allows %v, want a renewed watch and nothing else", r.id, r.want.may)
		}
	}
	for _, id := range []string{"1", "9", "9-all", "9-two", "11", "12", "33", "N1", "N19"} {
		if !seen[id] {
			t.Errorf("there is no row %s", id)
		}
	}
}

func TestJSONHasTheseFieldsAndNoOthers(t *testing.T) {
	text, err := json.Marshal(resultOf(&row{id: "1", fault: "f"}, newOutcome()))
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"cured_by", "detected_s", "expected", "fault", "healed_s", "id", "liveness_failed", "ok",
		"relisted_objects", "requests", "stock_healed_s", "verdict",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(fields))); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	for _, name := range []string{"detected_s", "healed_s", "stock_healed_s"} {
		if fields[name] != nil {
			t.Errorf("%s of what never came is %v, want null", name, fields[name])
		}
	}
}
