// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// probeTimeout bounds one question, so that a server that accepts and does not answer yet is asked again.
const probeTimeout = 5 * time.Second

// probeClient asks components whether they are ready. It keeps no connection, so nothing is left behind.
func probeClient(caPEM []byte) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(caPEM)
	return &http.Client{
		Timeout:   probeTimeout,
		Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots}},
	}
}

// probeHTTP returns nil if a GET of url is answered with 200.
func probeHTTP(ctx context.Context, client *http.Client, url, token string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	_, err = ask(client, req)
	return err
}

// probeEtcd returns nil if the etcd at url is ready and is the member of that name: another program's etcd that took the port in the
// meantime must not be taken for ours.
func probeEtcd(ctx context.Context, client *http.Client, url, member string) error {
	if err := probeHTTP(ctx, client, url+"/health", ""); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v3/cluster/member/list", strings.NewReader("{}"))
	if err != nil {
		return err
	}
	answer, err := ask(client, req)
	if err != nil {
		return err
	}
	if !strings.Contains(answer, member) {
		return fmt.Errorf("another etcd answers at %s", url)
	}
	return nil
}

// ask returns the body of an answer with status 200.
func ask(client *http.Client, req *http.Request) (string, error) {
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", resp.Status, strings.TrimSpace(string(body)))
	}
	return string(body), nil
}
