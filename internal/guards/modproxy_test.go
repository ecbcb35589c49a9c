// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"archive/zip"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// writeModuleProxy lays one version of the root module out in dir as the Go
// command expects it of a module proxy (go.dev/ref/mod#goproxy-protocol), so that
// file://dir serves it. It returns the names of the files in the module's zip.
func writeModuleProxy(t *testing.T, dir, module, version string) []string {
	t.Helper()
	versions := filepath.Join(dir, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"list":            version + "\n",
		version + ".info": string(info),
		version + ".mod":  readFile(t, "go.mod"),
	} {
		if err := os.WriteFile(filepath.Join(versions, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files := moduleFiles(repoFiles(t))
	writeModuleZip(t, filepath.Join(versions, version+".zip"), module+"@"+version+"/", files)
	return files
}

// writeModuleZip packs files, named from the root of the repository, under prefix.
func writeModuleZip(t *testing.T, name, prefix string, files []string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	archive := zip.NewWriter(f)
	for _, name := range files {
		w, err := archive.Create(prefix + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(readFile(t, name))); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// moduleFiles keeps what belongs to the root module: a directory below the root
// with a go.mod of its own is another module, and in no zip of this one.
func moduleFiles(files []string) []string {
	var nested []string
	for _, name := range files {
		if dir, base := path.Split(name); base == "go.mod" && dir != "" {
			nested = append(nested, dir)
		}
	}
	return slices.DeleteFunc(slices.Clone(files), func(name string) bool {
		return slices.ContainsFunc(nested, func(dir string) bool { return strings.HasPrefix(name, dir) })
	})
}
