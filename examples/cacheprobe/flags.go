// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// options are the flags, validated.
type options struct {
	kubeconfig, context string
	all                 bool
	servers             []string
	resources           []string // empty: leases, where they are hottest
	namespace           string
	object              types.NamespacedName
	samples             int
	interval, timeout   time.Duration
	json                bool
	onFrozen, lock      string
	jitter, cooldown    time.Duration
	dryRun              bool
}

// surely is how many samples have to agree before a command is run.
const surely = 3

const usage = `Asks API servers whether their watch cache is frozen. Reads only.

What to ask:
  -resource NAMES     kinds, separated by commas or repeated: configmaps, leases.coordination.k8s.io
                      (default: leases of kube-system and kube-node-lease, which always change)
  -namespace NS       read within one namespace, if that is all this user may
  -object NS/NAME     an object of the kind that changes often, read from the datastore and from the
                      cache; NAME alone for kinds without namespaces (default: found when needed)

Whom to ask:
  -kubeconfig FILE    (default: KUBECONFIG, then ~/.kube/config, then the Pod's ServiceAccount)
  -context NAME       of the kubeconfig
  -all                every API server in EndpointSlice default/kubernetes, each at its own address
  -server HOST:PORT   this one at its own address; can be repeated

How:
  -samples N          at most so many (default 3); one that is healthy is not asked again
  -interval D         between two, give or take a quarter (default 10s, at least 1s)
  -timeout D          of one request (default 10s, at least 4s: a frozen server takes 3)
  -o table|json       (default table)

What to do about it:
  -on-frozen CMD      run this by sh -c, with the addresses in FROZEN_SERVERS, if all samples, at
                      least 3, say frozen, and one more after the jitter
  -jitter D           wait up to so long before it, at random (default 30s)
  -lock FILE          held meanwhile, so that two timers never run it at once (default: in the
                      temporary directory, one per user)
  -cooldown D         not again so soon after the last time (default 1h)
  -dry-run            say what would be run, and run nothing

Exit status: 0 healthy or late, 1 frozen, 2 unreachable, 3 cannot tell, 64 bad flag,
130 interrupted. Of several, the first of frozen, unreachable, cannot tell.
`

// parseFlags returns the options, flag.ErrHelp, or an error of one line.
func parseFlags(args []string) (options, error) {
	o := options{}
	fs := flag.NewFlagSet("cacheprobe", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&o.kubeconfig, "kubeconfig", "", "")
	fs.StringVar(&o.context, "context", "", "")
	fs.BoolVar(&o.all, "all", false, "")
	fs.StringVar(&o.namespace, "namespace", "", "")
	fs.IntVar(&o.samples, "samples", surely, "")
	fs.DurationVar(&o.interval, "interval", 10*time.Second, "")
	fs.DurationVar(&o.timeout, "timeout", 10*time.Second, "")
	fs.StringVar(&o.onFrozen, "on-frozen", "", "")
	fs.StringVar(&o.lock, "lock", defaultLock(), "")
	fs.DurationVar(&o.jitter, "jitter", 30*time.Second, "")
	fs.DurationVar(&o.cooldown, "cooldown", time.Hour, "")
	fs.BoolVar(&o.dryRun, "dry-run", false, "")
	fs.Func("resource", "", func(s string) error {
		for name := range strings.SplitSeq(s, ",") {
			if name == "" {
				return errors.New("must be a kind, such as configmaps or leases.coordination.k8s.io")
			}
			o.resources = append(o.resources, name)
		}
		return nil
	})
	fs.Func("server", "", func(s string) error {
		if host, port, err := net.SplitHostPort(s); err != nil || host == "" || port == "" {
			return errors.New("must be HOST:PORT, such as 10.0.0.7:6443")
		}
		o.servers = append(o.servers, s)
		return nil
	})
	fs.Func("object", "", func(s string) error {
		o.object.Name = s
		if namespace, name, ok := strings.Cut(s, "/"); ok {
			o.object = types.NamespacedName{Namespace: namespace, Name: name}
		}
		if o.object.Name == "" || strings.Contains(o.object.Name, "/") {
			return errors.New("must be NAMESPACE/NAME, or NAME for a kind without namespaces")
		}
		return nil
	})
	fs.Func("o", "", func(s string) error {
		o.json = s == "json"
		if !o.json && s != "table" {
			return errors.New("must be table or json")
		}
		return nil
	})
	if err := fs.Parse(args); err != nil {
		return options{}, err
	}
	if fs.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q: there are only flags, see -h", fs.Arg(0))
	}
	return o, o.validate()
}

func (o options) validate() error {
	switch {
	case o.samples < 1:
		return fmt.Errorf("-samples %d: must be at least 1", o.samples)
	case o.interval < time.Second:
		return fmt.Errorf("-interval %v: must be at least 1s", o.interval)
	case o.timeout < 4*time.Second:
		return fmt.Errorf("-timeout %v: must be at least 4s, since a frozen server takes 3s to answer", o.timeout)
	case o.all && len(o.servers) > 0:
		return errors.New("-all and -server exclude each other")
	case o.object.Name != "" && len(o.resources) > 1:
		return errors.New("-object belongs to one kind: give one -resource")
	case o.onFrozen != "" && o.samples < surely:
		return fmt.Errorf("-on-frozen needs -samples %d or more, not %d", surely, o.samples)
	case o.jitter < 0 || o.cooldown < 0:
		return errors.New("-jitter and -cooldown: must not be negative")
	case o.dryRun && o.onFrozen == "":
		return errors.New("-dry-run belongs to -on-frozen")
	}
	return nil
}
