// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"

	"github.com/freshwatch/freshwatch/testing/controlplane"
)

// The environment variables that choose the control plane, see doc.go.
const (
	versionVariable   = "FRESHWATCH_E2E_VERSION"
	datastoreVariable = "FRESHWATCH_E2E_DATASTORE"
)

// kineWithoutProgress is a datastore that answers no requests for progress and
// hardly reports any by itself: kube-apiserver asks none whose version says that it
// is older than etcd 3.5.13, and the interval is what etcd has by default.
const kineWithoutProgress = "kine-without-progress"

// chosen returns the options of the control plane that the environment chooses.
func chosen() (controlplane.Options, error) {
	opts := controlplane.Options{Version: os.Getenv(versionVariable)}
	switch datastore := os.Getenv(datastoreVariable); datastore {
	case kineWithoutProgress:
		opts.Datastore = controlplane.Kine
		opts.EtcdArgs = []string{"--emulated-etcd-version=3.5.0", "--watch-progress-notify-interval=10m"}
	case "", string(controlplane.Etcd), string(controlplane.Kine):
		opts.Datastore = controlplane.Component(datastore)
	default:
		return opts, fmt.Errorf("%s is %q: must be etcd, kine or %s", datastoreVariable, datastore, kineWithoutProgress)
	}
	return opts, nil
}

// withoutProgress tells whether the datastore does not say how far it is.
func withoutProgress() bool { return os.Getenv(datastoreVariable) == kineWithoutProgress }

// serverName names the API server that the tests run on in results.
func serverName() string {
	name := "kube-apiserver"
	if version := os.Getenv(versionVariable); version != "" {
		name += " " + version
	}
	if datastore := os.Getenv(datastoreVariable); datastore != "" {
		name += " on " + datastore
	}
	return name
}
