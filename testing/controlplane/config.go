// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// MinTokenExpiry is the shortest lifetime that kube-apiserver gives a ServiceAccount token, and DefaultTokenExpiry what an expiry of 0
// stands for.
const (
	MinTokenExpiry     = 10 * time.Minute
	DefaultTokenExpiry = time.Hour
)

// Config returns a new configuration for cluster-admin. It authenticates with a bearer token, never with a client certificate, so that a
// proxy which terminates TLS can pass it on; the server's certificate is verified. Client-side rate limits are off.
func (c *ControlPlane) Config() *rest.Config { return c.configFor(c.tokens[adminUser]) }

func (c *ControlPlane) configFor(token string) *rest.Config {
	return &rest.Config{
		Host:            c.APIServerURL(),
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.CA()},
		QPS:             -1,
	}
}

// User returns a configuration for a user of that name and groups (system:authenticated is added by the server), without any rights
// until RBAC objects give it some. It works at any time, because it is the administrator's token with impersonation: the server
// treats and records the request as the user's, but on the wire it carries Impersonate-User and Impersonate-Group headers. Where the
// credential itself matters, such as its expiry or a 401 once it is revoked, use ServiceAccount.
func (c *ControlPlane) User(name string, groups ...string) (*rest.Config, error) {
	if name == "" {
		return nil, errors.New("controlplane: User: name is empty: must name a user")
	}
	cfg := c.Config()
	cfg.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: slices.Clone(groups)}
	return cfg, nil
}

// ServiceAccount returns a configuration with a fresh token of the ServiceAccount, which is created if it is absent; its namespace must
// exist. The token is valid for expiry (0 means DefaultTokenExpiry, less than MinTokenExpiry is refused) and at most until the
// ServiceAccount is deleted. The configuration does not renew it.
func (c *ControlPlane) ServiceAccount(ctx context.Context, namespace, name string, expiry time.Duration) (*rest.Config, error) {
	if expiry == 0 {
		expiry = DefaultTokenExpiry
	}
	if expiry < MinTokenExpiry {
		return nil, fmt.Errorf("controlplane: ServiceAccount: expiry is %v: must be 0 or at least %v", expiry, MinTokenExpiry)
	}
	token, err := c.serviceAccountToken(ctx, namespace, name, expiry)
	if err != nil {
		return nil, fmt.Errorf("controlplane: ServiceAccount %s/%s: %w", namespace, name, err)
	}
	return c.configFor(token), nil
}

func (c *ControlPlane) serviceAccountToken(ctx context.Context, namespace, name string, expiry time.Duration) (string, error) {
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return "", err
	}
	accounts := client.CoreV1().ServiceAccounts(namespace)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := accounts.Create(ctx, account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", err
	}
	seconds := int64(expiry / time.Second)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	answer, err := accounts.CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return answer.Status.Token, nil
}

// Kubeconfig returns the path of a kubeconfig file for cluster-admin. It lies in the state directory and goes with it.
func (c *ControlPlane) Kubeconfig() string { return c.file("admin.kubeconfig") }

// WriteKubeconfig writes a kubeconfig file, readable by its owner only, for a configuration that Config, User or ServiceAccount returned.
// The caller may have changed its Host.
func WriteKubeconfig(path string, cfg *rest.Config) error {
	const name = "freshwatch"
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{Server: cfg.Host, CertificateAuthorityData: cfg.CAData}
	file.AuthInfos[name] = &clientcmdapi.AuthInfo{
		Token:             cfg.BearerToken,
		Impersonate:       cfg.Impersonate.UserName,
		ImpersonateGroups: cfg.Impersonate.Groups,
	}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	file.CurrentContext = name
	content, err := clientcmd.Write(*file)
	if err != nil {
		return fmt.Errorf("controlplane: kubeconfig: %w", err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("controlplane: kubeconfig: %w", err)
	}
	return nil
}
