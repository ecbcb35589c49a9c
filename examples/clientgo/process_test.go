// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"
)

// process is the program, seen from outside: what it serves and what it logs.
type process struct {
	url  string
	stop func() error

	mu  sync.Mutex
	out bytes.Buffer
}

// launch runs the program through the proxy.
func launch(t *testing.T, c cluster) *process {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &process{url: "http://" + listener.Addr().String()}
	log := funcr.New(func(_, line string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		fmt.Fprintln(&p.out, line)
	}, funcr.Options{})
	cfg := c.config(t, "guarded")
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), log))
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, cfg, namespace, listener) }()
	p.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		report(t, p.stop())
		if t.Failed() {
			t.Logf("the program's log:\n%s", p.log())
		}
	})
	return p
}

func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// get returns the status and the body of one of its answers.
func (p *process) get(t *testing.T, path string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// changed counts what the program logged of a kind.
func changed(p *process, kind string) int {
	return strings.Count(p.log(), fmt.Sprintf(`"msg"="Changed" "kind"=%q`, kind))
}
