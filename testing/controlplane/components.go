// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

// Component names one program of the control plane.
type Component string

// The components. A datastore, which is Etcd unless Options.Datastore says Kine, and APIServer always run, the others on request.
const (
	Etcd              Component = "etcd"
	Kine              Component = "kine"
	APIServer         Component = "kube-apiserver"
	ControllerManager Component = "kube-controller-manager"
	Scheduler         Component = "kube-scheduler"
)

// allComponents is every component that a release of Kubernetes has, in the order in which they start.
func allComponents() []Component {
	return []Component{Etcd, APIServer, ControllerManager, Scheduler}
}

// datastores is every program that kube-apiserver can keep its objects in.
func datastores() []Component { return []Component{Etcd, Kine} }
