// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// serverAccount is what the API server says of itself.
type serverAccount struct {
	at                       time.Time
	requests, cpu, residents float64
}

func (s *stage) account(ctx context.Context) (serverAccount, error) {
	a := serverAccount{at: time.Now()}
	raw, err := s.typed.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return a, fmt.Errorf("the API server's metrics: %w", err)
	}
	a.read(raw)
	return a, nil
}

// read takes the exposition format.
func (a *serverAccount) read(raw []byte) {
	for scan := bufio.NewScanner(bytes.NewReader(raw)); scan.Scan(); {
		line := scan.Text()
		space := strings.LastIndexByte(line, ' ')
		if space < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		name, _, _ := strings.Cut(line[:space], "{")
		value, err := strconv.ParseFloat(line[space+1:], 64)
		if err != nil {
			continue
		}
		switch name {
		case "apiserver_request_total":
			a.requests += value
		case "process_cpu_seconds_total":
			a.cpu = value
		case "process_resident_memory_bytes":
			a.residents = value
		}
	}
}

// addServer completes the figures with what the API server spent meanwhile.
func (f *figures) addServer(before, after serverAccount) {
	took := after.at.Sub(before.at).Seconds()
	f.ServerRequestsPerSecond = (after.requests - before.requests) / took
	f.ServerCPUPercent = 100 * (after.cpu - before.cpu) / took
	f.ServerRSSMegabytes = after.residents / 1e6
}
