// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fillEtcd writes until etcd refuses, as it does once its quota is used up. The
// mend does what an administrator does then.
func fillEtcd(ctx context.Context, s *scene) (mend, error) {
	const most = 200
	maps := s.typed.CoreV1().ConfigMaps(s.ns[0])
	ballast := strings.Repeat("0123456789", 50_000)
	for i := range most {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("ballast-%d", i)}}
		m.Data = map[string]string{"ballast": ballast}
		_, err := maps.Create(ctx, m, metav1.CreateOptions{})
		switch {
		case err == nil:
		case strings.Contains(err.Error(), "space"):
			return s.emptyEtcd, nil
		case !apierrors.IsTooManyRequests(err):
			return nil, err
		}
	}
	return nil, errors.New("etcd took all that was written, whatever its quota")
}

// emptyEtcd deletes, compacts, defragments, and disarms the alarm.
func (s *scene) emptyEtcd(ctx context.Context) error {
	maps := s.typed.CoreV1().ConfigMaps(s.ns[0])
	all, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, m := range all.Items {
		if err := maps.Delete(ctx, m.Name, metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	status, err := s.etcdctl(ctx, "maintenance/status", map[string]any{})
	if err != nil {
		return err
	}
	header, ok := status["header"].(map[string]any)
	if !ok {
		return fmt.Errorf("etcd's status has no header: %v", status)
	}
	for _, step := range []struct {
		path string
		body map[string]any
	}{
		{"kv/compaction", map[string]any{"revision": header["revision"], "physical": true}},
		{"maintenance/defragment", map[string]any{}},
		{"maintenance/alarm", map[string]any{"action": "DEACTIVATE", "alarm": "NOSPACE", "memberID": header["member_id"]}},
	} {
		if _, err := s.etcdctl(ctx, step.path, step.body); err != nil {
			return err
		}
	}
	return nil
}

// etcdctl asks etcd itself, past the proxy, by its JSON gateway.
func (s *scene) etcdctl(ctx context.Context, path string, body map[string]any) (map[string]any, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.EtcdURL()+"/v3/"+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("etcd: %s: %s: %s", path, resp.Status, answer)
	}
	var out map[string]any
	return out, json.Unmarshal(answer, &out)
}
