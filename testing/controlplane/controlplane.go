// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
)

// ControlPlane is a running control plane. Its methods are safe for concurrent use.
type ControlPlane struct {
	opts     Options
	dir      *stateDir
	log      *logger
	binaries *binaries
	client   *http.Client

	// Set once by Start, constant from then on.
	pki                   *pki
	tokens                map[string]string
	etcdURL, apiServerURL string

	mu          sync.Mutex
	components  []*component // in the order in which they were started
	checkpoints int
	stopped     bool
	stopErr     error
}

// Start finds the binaries, or builds them, and starts the control plane. It returns when every component is ready. ctx bounds Start
// alone: the control plane runs until Stop, which the caller must call if and only if the error is nil.
func Start(ctx context.Context, opts Options) (*ControlPlane, error) {
	if err := supported(); err != nil {
		return nil, err
	}
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	log := &logger{w: opts.Log}
	found, err := findBinaries(ctx, opts.Version, opts.components(), log)
	if err != nil {
		return nil, err
	}
	dir, err := newStateDir(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("controlplane: %w", err)
	}
	c := &ControlPlane{opts: opts, dir: dir, log: log, binaries: found}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("controlplane: %w", err), c.Stop())
	}
	return c, nil
}

// file is a path in the state directory.
func (c *ControlPlane) file(name string) string { return filepath.Join(c.dir.path, name) }

// APIServerURL returns the address of kube-apiserver, https://127.0.0.1:PORT.
func (c *ControlPlane) APIServerURL() string { return c.apiServerURL }

// EtcdURL returns the address of the datastore itself, etcd or kine, http://127.0.0.1:PORT, also where Options.WrapEtcd put something in front of it.
func (c *ControlPlane) EtcdURL() string { return c.etcdURL }

// CA returns the PEM certificate that the certificates of kube-apiserver, kube-controller-manager and kube-scheduler are signed with.
func (c *ControlPlane) CA() []byte { return slices.Clone(c.pki.caPEM) }

// LogFile returns the path of the file that holds all output of a component. It goes with the state directory.
func (c *ControlPlane) LogFile(name Component) string { return c.file(string(name) + ".log") }

// Stop ends every process that was started and removes the temporary state directory. The end is immediate, without the servers' own
// shutdown, because nothing is worth keeping. Stop may be called again and then returns what it returned before: an error if a component
// had ended by itself, or could not be ended.
func (c *ControlPlane) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return c.stopErr
	}
	c.stopped = true
	var errs []error
	for _, comp := range slices.Backward(c.components) {
		if comp.proc != nil && comp.proc.exited() {
			errs = append(errs, comp.died())
		}
		errs = append(errs, comp.kill())
	}
	errs = append(errs, c.dir.remove())
	if err := errors.Join(errs...); err != nil {
		c.stopErr = fmt.Errorf("controlplane: %w", err)
	}
	return c.stopErr
}
