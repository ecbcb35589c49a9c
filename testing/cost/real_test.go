// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestMeasure runs everything in small: what is measured is right, however little
// it is.
func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a real kube-apiserver, which -short asks to leave out")
	}
	file := filepath.Join(t.TempDir(), "cost.json")
	opts := options{
		kinds: 3, namespaces: 2, settle: time.Second, measure: 65 * time.Second,
		limits: []limit{{}}, programs: []string{stock, monitored}, json: file, profiles: filepath.Dir(file),
	}
	var out bytes.Buffer
	if err := measure(t.Context(), opts, &out, io.Discard); err != nil && !errors.Is(err, errBroken) { // six informers are no crowd
		t.Fatal(err)
	}
	var rep report
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &rep)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Processes) != 2 || rep.Informers != 6 {
		t.Fatalf("%d processes with %d informers each, want 2 with 6:\n%s", len(rep.Processes), rep.Informers, text)
	}
	without, with := rep.Processes[0], rep.Processes[1]
	if without.ProofsPerSecond != 0 || without.Proven != 0 {
		t.Errorf("a process without a monitor proves something: %+v", without)
	}
	if with.Proven < 6 || with.ProofsPerSecond <= 0 || with.Verdicts["Fresh"] != 6 {
		t.Errorf("not every informer was proven within a minute: %+v", with)
	}
	for _, f := range rep.Processes {
		if f.CPUPercent <= 0 || f.HeapMegabytes <= 0 || f.Goroutines <= 0 || f.UserReads < 30 ||
			f.BytesPerSecond <= 0 || f.ServerRequestsPerSecond < 1 || f.ServerCPUPercent <= 0 {
			t.Errorf("%s: something was not measured: %+v", f.Program, f)
		}
		if info, err := os.Stat(filepath.Join(opts.profiles, f.Program+"-off.pprof")); err != nil || info.Size() == 0 {
			t.Errorf("%s: no profile: %v", f.Program, err)
		}
	}
	if !bytes.Contains(out.Bytes(), []byte("CPU, % of a core")) {
		t.Errorf("no table:\n%s", &out)
	}
}

// TestChildEndsWithItsParent ends a process's input before it has anything to do.
func TestChildEndsWithItsParent(t *testing.T) {
	if err := command(t.Context(), []string{childCommand}, &bytes.Buffer{}, io.Discard, io.Discard); !errors.Is(err, io.EOF) {
		t.Errorf("without a job: %v, want %v", err, io.EOF)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := passes(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that is cancelled: %v, want %v", err, context.Canceled)
	}
}
