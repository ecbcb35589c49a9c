// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package kubebuilder

import (
	"crypto/tls"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/testing/controlplane"
	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// operator is one process of the operator, with a proxy of its own before the API server.
type operator struct {
	*process
	proxy           *faultproxy.API
	probes, metrics string // addresses
	scraper         string // a token that may get metrics
	http            *http.Client
}

// start runs a program as the Deployment would, but for what a Pod has and a process on
// this machine has not, until the test ends.
func (c *cluster) start(t *testing.T, name, program string, args ...string) *operator {
	t.Helper()
	o := &operator{
		probes: freeAddress(t), metrics: freeAddress(t), scraper: c.token(t, scraper),
		http: &http.Client{Timeout: patience, Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the scaffold signs its certificate itself
		}},
	}
	var err error
	if o.proxy, err = faultproxy.NewAPI(c.Config(), faultproxy.APIOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { report(t, o.proxy.Close()) })
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, o.proxy.Config(c.serviceAccount(t, c.account))); err != nil {
		t.Fatal(err)
	}
	all := append(append([]string{}, c.args...), // of flags that are given twice, the last one counts
		"--kubeconfig="+kubeconfig, "--health-probe-bind-address="+o.probes, "--metrics-bind-address="+o.metrics,
		"--leader-elect=false") // outside of a Pod the scaffold has no namespace for it
	o.process = startProcess(t, name, program, append(all, args...)...)
	return o
}

// freeAddress returns a local one below the ports that clients are given.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(15000+rand.IntN(17000)))
		if l, err := net.Listen("tcp", address); err == nil {
			report(t, l.Close())
			return address
		}
	}
	t.Fatal("no free port")
	return ""
}

// probe returns what the kubelet would be told.
func (o *operator) probe(t *testing.T, path string) (status int, body string) {
	t.Helper()
	return o.get(t, "http://"+o.probes+path, "")
}

// page returns what the metrics server has at a path.
func (o *operator) page(t *testing.T, path, token string) (status int, body string) {
	t.Helper()
	return o.get(t, "https://"+o.metrics+path, token)
}

// get returns status 0 and the reason where there is no answer.
func (o *operator) get(t *testing.T, url, token string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := o.http.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(text)
}

// values returns those of a metric's series that have all these labels, each as
// name="value".
func (o *operator) values(t *testing.T, metric string, labels ...string) (values []float64) {
	t.Helper()
	status, text := o.page(t, "/metrics", o.scraper)
	if status != http.StatusOK {
		t.Errorf("%s: /metrics: %d %s", o.name, status, text)
	}
	series := regexp.MustCompile(`(?m)^` + metric + `(?:\{(.*)\})? (\S+)$`)
	for _, m := range series.FindAllStringSubmatch(text, -1) {
		if slices.ContainsFunc(labels, func(l string) bool { return !strings.Contains(","+m[1]+",", ","+l+",") }) {
			continue
		}
		value, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Errorf("%s: %v", m[0], err)
		}
		values = append(values, value)
	}
	return values
}

// sum adds them up.
func (o *operator) sum(t *testing.T, metric string, labels ...string) (sum float64) {
	t.Helper()
	for _, v := range o.values(t, metric, labels...) {
		sum += v
	}
	return sum
}

// reconciles is how often the operator has reconciled the Guestbook.
func (o *operator) reconciles(t *testing.T) float64 {
	t.Helper()
	return o.sum(t, "controller_runtime_reconcile_total", `controller="guestbook"`)
}

// checks returns the names of the checks behind a probe.
func (o *operator) checks(t *testing.T, path string) (names []string) {
	t.Helper()
	status, body := o.probe(t, path+"?verbose")
	if status != http.StatusOK {
		t.Errorf("%s: %s: %d %s", o.name, path, status, body)
	}
	for _, m := range regexp.MustCompile(`(?m)^\[.\](\S+) `).FindAllStringSubmatch(body, -1) {
		names = append(names, m[1])
	}
	return names
}

// waitFor fails the test unless cond holds within limit, and returns how long that took.
func waitFor(t *testing.T, limit time.Duration, what string, cond func() bool) (took time.Duration) {
	t.Helper()
	begin := time.Now()
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for !cond() {
		select {
		case <-ticker.C:
		case <-timeout.C:
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
	return time.Since(begin)
}
