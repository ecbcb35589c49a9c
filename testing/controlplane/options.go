// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// DefaultStartTimeout is how long one component may take from its start until it answers that it is ready. kube-apiserver, the slowest,
// takes a few seconds where it has a core to itself; the rest is for CI machines that compile at the same time.
const DefaultStartTimeout = 2 * time.Minute

// Options says what to start. The zero value starts etcd and kube-apiserver of DefaultVersion on free ports.
type Options struct {
	// Version is the Kubernetes minor version to run, "1.34" to "1.37". Defaults to DefaultVersion. Set explicitly, it also
	// keeps binaries of another minor version in KUBEBUILDER_ASSETS from being used; left empty, those are taken as they are.
	Version string

	// ControllerManager starts kube-controller-manager too. Without it nothing creates default ServiceAccounts, so the
	// ServiceAccount admission plugin is off and pods are accepted without one.
	ControllerManager bool

	// Scheduler starts kube-scheduler too.
	Scheduler bool

	// Datastore is what kube-apiserver keeps its objects in: Etcd, or Kine, which speaks etcd's protocol and keeps them in a
	// SQLite database, as k3s has it on a single server. Defaults to Etcd; anything else is refused. What the other options and
	// the methods say of etcd goes for either, Checkpoint and Rewind included.
	Datastore Component

	// Dir holds etcd's data, keys, kubeconfigs and the components' logs. It is created if absent, must be empty, and is kept
	// by Stop. Defaults to a temporary directory, which Stop removes.
	Dir string

	// Log receives where the binaries came from, the progress of a build, and what was retried. Writes are serialised. Defaults
	// to os.Stderr.
	Log io.Writer

	// StartTimeout bounds the time of each component from its start until it is ready, here and in Restart and Rewind. The time
	// to find or build binaries does not count. Defaults to DefaultStartTimeout; negative values are refused.
	StartTimeout time.Duration

	// APIServerPort and EtcdPort fix the ports, 1 to 65535. Defaults to 0, a free port. A fixed port that is taken is an error
	// of Start, a chosen one that was taken in the meantime is replaced by another.
	APIServerPort, EtcdPort int

	// WrapEtcd puts something between kube-apiserver and etcd, such as a fault proxy. It is called once for each kube-apiserver
	// (see AddAPIServer), when etcd at etcdURL (http://127.0.0.1:PORT) is ready, and returns the URL that this one shall use
	// instead. Restart and Rewind keep both URLs. What it starts is the caller's to stop, after Stop.
	WrapEtcd func(ctx context.Context, etcdURL string) (string, error)

	// EtcdArgs, APIServerArgs, ControllerManagerArgs and SchedulerArgs are further flags, each as "--name=value" or "--name". They
	// replace defaults of the same name; a name may be repeated. EtcdArgs are for the Datastore, whichever it is.
	EtcdArgs, APIServerArgs, ControllerManagerArgs, SchedulerArgs []string
}

// components lists what these options, defaults filled in, start, in order.
func (o Options) components() []Component {
	list := []Component{o.Datastore, APIServer}
	if o.ControllerManager {
		list = append(list, ControllerManager)
	}
	if o.Scheduler {
		list = append(list, Scheduler)
	}
	return list
}

// withDefaults returns the options with every default filled in, or an error that names the field, the value and the rule.
func (o Options) withDefaults() (Options, error) {
	if _, err := releaseOf(o.Version); err != nil {
		return o, fmt.Errorf("controlplane: Options.Version: %w", err)
	}
	if o.Datastore == "" {
		o.Datastore = Etcd
	}
	if !slices.Contains(datastores(), o.Datastore) {
		return o, fmt.Errorf("controlplane: Options.Datastore is %q: must be among %v", o.Datastore, datastores())
	}
	if o.StartTimeout < 0 {
		return o, fmt.Errorf("controlplane: Options.StartTimeout is %v: must not be negative", o.StartTimeout)
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = DefaultStartTimeout
	}
	if o.Log == nil {
		o.Log = os.Stderr
	}
	if err := o.checkPorts(); err != nil {
		return o, err
	}
	return o, o.checkArgs()
}

func (o Options) checkPorts() error {
	ports := []struct {
		field string
		port  int
	}{{"APIServerPort", o.APIServerPort}, {"EtcdPort", o.EtcdPort}}
	for _, p := range ports {
		if p.port < 0 || p.port > 65535 {
			return fmt.Errorf("controlplane: Options.%s is %d: must be 0 (a free port) or 1 to 65535", p.field, p.port)
		}
		if p.port != 0 && !portFree(p.port) {
			return fmt.Errorf("controlplane: Options.%s: port %d on 127.0.0.1 is already in use", p.field, p.port)
		}
	}
	if o.EtcdPort != 0 && o.EtcdPort == o.APIServerPort {
		return fmt.Errorf("controlplane: Options.EtcdPort and Options.APIServerPort are both %d: must differ", o.EtcdPort)
	}
	return nil
}

func (o Options) checkArgs() error {
	var errs []error
	for _, list := range []struct {
		field string
		args  []string
	}{
		{"EtcdArgs", o.EtcdArgs},
		{"APIServerArgs", o.APIServerArgs},
		{"ControllerManagerArgs", o.ControllerManagerArgs},
		{"SchedulerArgs", o.SchedulerArgs},
	} {
		for _, arg := range list.args {
			if !strings.HasPrefix(arg, "--") {
				errs = append(errs, fmt.Errorf("controlplane: Options.%s: %q: must be \"--name=value\" or \"--name\"", list.field, arg))
			}
		}
	}
	return errors.Join(errs...)
}
