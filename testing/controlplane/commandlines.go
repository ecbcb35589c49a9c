// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"net/url"
	"path/filepath"
)

// etcdArgs is the command line of a single-member etcd. The peer address is never dialled; no fsync, because nothing outlives the test
// and a dying process loses nothing that it has written.
func etcdArgs(member, dataDir string, port int) []string {
	const peer = "http://127.0.0.1:0"
	own := "http://" + loopback(port)
	return []string{
		"--name=" + member,
		"--data-dir=" + dataDir,
		"--listen-client-urls=" + own,
		"--advertise-client-urls=" + own,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=" + member + "=" + peer,
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

// kineArgs is the command line of kine on a SQLite database, with the parameters that are kine's default if no endpoint is given. It
// would serve metrics to the whole network.
func kineArgs(dataDir string, port int) []string {
	const params = "_journal_mode=WAL&_busy_timeout=30000&_synchronous=NORMAL&_txlock=immediate&cache=shared"
	file := url.URL{Path: filepath.Join(dataDir, "state.db")} // SQLite takes it for a URL, too
	return []string{
		"--listen-address=tcp://" + loopback(port),
		"--endpoint=sqlite://" + file.EscapedPath() + "?" + params,
		"--metrics-bind-address=0",
	}
}

// announcement is what a component that cannot be probed over HTTP logs once it is ready. No other program that took the port in the
// meantime can say it in its place.
func announcement(name Component) string {
	if name == Kine {
		return "Kine available at"
	}
	return ""
}

// apiServerArgs is the command line of kube-apiserver. It advertises the loopback address, which no Endpoints object may hold, so the
// "kubernetes" Service stays without endpoints.
func apiServerArgs(p *pki, tokenFile, certDir, etcdURL string, port int, serviceAccounts bool) []string {
	args := []string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		fmt.Sprintf("--secure-port=%d", port),
		"--cert-dir=" + certDir,
		"--tls-cert-file=" + p.certFile,
		"--tls-private-key-file=" + p.keyFile,
		"--token-auth-file=" + tokenFile,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + p.saPubFile,
		"--service-account-signing-key-file=" + p.saKeyFile,
		"--service-cluster-ip-range=10.0.0.0/24",
	}
	if !serviceAccounts {
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	return args
}

// controllerManagerArgs is the command line of kube-controller-manager.
func controllerManagerArgs(p *pki, kubeconfig string, port int) []string {
	return append(servingArgs(p, kubeconfig, port),
		"--use-service-account-credentials",
		"--service-account-private-key-file="+p.saKeyFile,
		"--root-ca-file="+p.caFile,
	)
}

// schedulerArgs is the command line of kube-scheduler.
func schedulerArgs(p *pki, kubeconfig string, port int) []string {
	return servingArgs(p, kubeconfig, port)
}

// servingArgs is what the two clients of the API server have in common. Alone, they need no leader election.
func servingArgs(p *pki, kubeconfig string, port int) []string {
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file=" + p.certFile,
		"--tls-private-key-file=" + p.keyFile,
	}
}
