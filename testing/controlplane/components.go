// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

// Component names one program of the control plane.
type Component string

// The components. Etcd and APIServer always run, the other two on request.
const (
	Etcd              Component = "etcd"
	APIServer         Component = "kube-apiserver"
	ControllerManager Component = "kube-controller-manager"
	Scheduler         Component = "kube-scheduler"
)

// allComponents is every component, in the order in which they start.
func allComponents() []Component {
	return []Component{Etcd, APIServer, ControllerManager, Scheduler}
}
