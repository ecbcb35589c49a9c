// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// target is an entry of a file that Prometheus finds its targets in.
type target struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

// server is a Prometheus that runs.
type server struct {
	url     string
	dir     string
	every   time.Duration // it scrapes
	log     output
	client  http.Client
	targets []target
}

// output keeps what a process writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// binaries returns the directory of promtool and prometheus, as the Makefile has it: they
// are built if need be.
func binaries(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make", "-s", "-C", filepath.Join("..", ".."), "prometheus")
	cmd.Stderr = os.Stderr
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { // those of a make that runs this test
		return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS=")
	})
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("make prometheus: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

// startServer starts a Prometheus that scrapes each target so often, and evaluates these
// rules as often, until the test ends.
func startServer(t *testing.T, every time.Duration, rules map[string]string) *server {
	t.Helper()
	s := &server{dir: t.TempDir(), every: every, client: http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}}
	config := fmt.Sprintf(`
global: {scrape_interval: %[1]s, scrape_timeout: %[1]s, evaluation_interval: %[1]s}
rule_files: ['*.rules.yaml']
scrape_configs:
- job_name: operators
  file_sd_configs: [{files: [targets.json]}]
`, every)
	s.write(t, "prometheus.yaml", config)
	for name, text := range rules {
		s.write(t, name, text)
	}
	s.scrape(t)
	address := freeAddress(t)
	s.url = "http://" + address
	cmd := exec.Command(filepath.Join(binaries(t), "prometheus"),
		"--config.file="+filepath.Join(s.dir, "prometheus.yaml"),
		"--storage.tsdb.path="+filepath.Join(s.dir, "data"),
		"--web.listen-address="+address,
		"--log.level=warn",
	)
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			targets, err := s.get(context.WithoutCancel(t.Context()), "/api/v1/targets", nil)
			t.Logf("Prometheus:\n%s\n%s %v", s.log.String(), targets, err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	await(t, patience, "Prometheus is ready", func() bool {
		_, err := s.get(t.Context(), "/-/ready", nil)
		return err == nil
	})
	return s
}

// write writes a file of the server's. It is there as a whole or not at all.
func (s *server) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// scrape has it scrape the pods of these programs, and no others.
func (s *server) scrape(t *testing.T, programs ...*program) {
	t.Helper()
	s.targets = []target{}
	for _, pr := range programs {
		s.targets = append(s.targets, pr.targets()...)
	}
	text, err := json.Marshal(s.targets)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "targets.json", string(text))
}

func (s *server) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	return body, err
}

// series is one of a query's result.
type series struct {
	Metric map[string]string `json:"metric"`
	Value  point             `json:"value"`
	Values []point           `json:"values"`
}

// point is a sample as the API has it.
type point [2]any

func (p point) at() time.Time {
	seconds, _ := p[0].(float64)
	return time.UnixMilli(int64(seconds * 1000))
}

func (p point) value() string {
	text, _ := p[1].(string)
	return text
}

// query asks for the present value of an expression.
func (s *server) query(ctx context.Context, expr string) ([]series, error) {
	body, err := s.get(ctx, "/api/v1/query", url.Values{"query": {expr}})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	var answer struct {
		Data struct {
			ResultType string          `json:"resultType"`
			Result     json.RawMessage `json:"result"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	if answer.Data.ResultType == "scalar" {
		return []series{{}}, nil
	}
	var out []series
	if err := json.Unmarshal(answer.Data.Result, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	return out, nil
}

// mustQuery is query where an error is the test's end.
func (s *server) mustQuery(t *testing.T, expr string) []series {
	t.Helper()
	out, err := s.query(t.Context(), expr)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
