// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestOptionsAreValidated(t *testing.T) {
	taken, err := net.Listen("tcp", loopback(0))
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port

	for _, test := range []struct {
		name  string
		opts  Options
		words []string
	}{
		{"unknown version", Options{Version: "1.12"}, []string{"Options.Version", `"1.12"`, "1.37, 1.36, 1.35, 1.34"}},
		{"a patch is not a minor version", Options{Version: "1.37.2"}, []string{"Options.Version", `"1.37.2"`}},
		{"unknown datastore", Options{Datastore: "mysql"}, []string{"Options.Datastore", `"mysql"`, "[etcd kine]"}},
		{"a component that is no datastore", Options{Datastore: Scheduler}, []string{"Options.Datastore", `"kube-scheduler"`}},
		{"negative timeout", Options{StartTimeout: -time.Second}, []string{"Options.StartTimeout", "-1s", "negative"}},
		{"port below range", Options{EtcdPort: -1}, []string{"Options.EtcdPort", "-1", "1 to 65535"}},
		{"port above range", Options{APIServerPort: 65536}, []string{"Options.APIServerPort", "65536"}},
		{"one port for both", Options{APIServerPort: 20001, EtcdPort: 20001}, []string{"20001", "must differ"}},
		{"port taken", Options{APIServerPort: port}, []string{"Options.APIServerPort", strconv.Itoa(port), "already in use"}},
		{"flag without dashes", Options{EtcdArgs: []string{"debug"}}, []string{"Options.EtcdArgs", `"debug"`, "--name=value"}},
		{"flag of the scheduler", Options{SchedulerArgs: []string{"-v"}}, []string{"Options.SchedulerArgs", `"-v"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Start(context.Background(), test.opts)
			wantError(t, err, append(test.words, "controlplane: ")...)
		})
	}
}

func TestOptionsDefaults(t *testing.T) {
	opts, err := Options{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if opts.StartTimeout != DefaultStartTimeout || opts.Log == nil {
		t.Errorf("defaults not filled in: %+v", opts)
	}
	if diff := cmp.Diff([]Component{Etcd, APIServer}, opts.components()); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	opts.ControllerManager, opts.Scheduler = true, true
	if diff := cmp.Diff(allComponents(), opts.components()); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	opts.Datastore = Kine
	if diff := cmp.Diff([]Component{Kine, APIServer, ControllerManager, Scheduler}, opts.components()); diff != "" {
		t.Errorf("components with kine (-want +got):\n%s", diff)
	}
}

func TestMergeFlags(t *testing.T) {
	for _, test := range []struct {
		name                  string
		defaults, extra, want []string
	}{
		{"nothing extra", []string{"--a=1"}, nil, []string{"--a=1"}},
		{"replaced", []string{"--a=1", "--b"}, []string{"--a=2"}, []string{"--b", "--a=2"}},
		{"a value with an equals sign", []string{"--gates=A=true"}, []string{"--gates=B=true"}, []string{"--gates=B=true"}},
		{"repeated", []string{"--a=1"}, []string{"--a=2", "--a=3"}, []string{"--a=2", "--a=3"}},
		{"underscores", []string{"--leader-elect=false"}, []string{"--leader_elect"}, []string{"--leader_elect"}},
		{"a longer name is another", []string{"--a=1"}, []string{"--ab=2"}, []string{"--a=1", "--ab=2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, mergeFlags(test.defaults, test.extra)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
