// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshevents

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// tokenLimit is far more than a token has.
const tokenLimit = 64 << 10

// podOf returns the Pod that the credential of a config is bound to. The API server puts
// its name into the tokens of ServiceAccounts that the kubelet asks for; nothing is sent
// to find it, and no right is needed. It looks at the credential in use, and not at a file
// that happens to be there: that may be another cluster's.
//
// An error does not quote the token.
func podOf(cfg *rest.Config) (corev1.ObjectReference, error) {
	switch {
	case cfg.BearerTokenFile != "":
		token, err := readToken(cfg.BearerTokenFile)
		if err != nil {
			return corev1.ObjectReference{}, fmt.Errorf("the token cannot be read: %w", err)
		}
		return podOfToken(token)
	case cfg.BearerToken != "":
		return podOfToken(cfg.BearerToken)
	}
	return corev1.ObjectReference{}, errors.New("this process does not identify itself with a ServiceAccount's token, as one in a pod does")
}

func readToken(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, tokenLimit))
	return string(text), err
}

// podOfToken reads the claims of a bound token that name its Pod, and no others. It does
// not verify it, which the API server does with each request.
func podOfToken(token string) (corev1.ObjectReference, error) {
	var claims struct {
		Kubernetes struct {
			Namespace string `json:"namespace"`
			Pod       struct {
				Name string    `json:"name"`
				UID  types.UID `json:"uid"`
			} `json:"pod"`
		} `json:"kubernetes.io"`
	}
	parts := strings.Split(strings.TrimSpace(token), ".")
	if len(parts) != 3 {
		return corev1.ObjectReference{}, errors.New("the token of this process is not a ServiceAccount's")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		return corev1.ObjectReference{}, errors.New("the token of this process is not a ServiceAccount's")
	}
	c := claims.Kubernetes
	if c.Namespace == "" || c.Pod.Name == "" || c.Pod.UID == "" {
		return corev1.ObjectReference{}, errors.New("the token of this process is not bound to a Pod")
	}
	return corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: c.Namespace, Name: c.Pod.Name, UID: c.Pod.UID}, nil
}
