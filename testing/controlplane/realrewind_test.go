// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package controlplane

import (
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// listRV returns the current resourceVersion of ConfigMaps.
func listRV(t *testing.T, client kubernetes.Interface) int {
	t.Helper()
	list, err := client.CoreV1().ConfigMaps("default").List(realContext(t), metav1.ListOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	return number(t, list.ResourceVersion)
}

func testRealRewind(t *testing.T, c *ControlPlane, admin kubernetes.Interface) {
	if err := createConfigMap(realContext(t), admin, "before-checkpoint"); err != nil {
		t.Fatal(err)
	}
	checkpoint, err := c.Checkpoint(realContext(t))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // A checkpoint can be used more than once.
		for i := range 200 {
			if err := createConfigMap(realContext(t), admin, "after-checkpoint-"+string(rune('a'+i%26))+string(rune('a'+i/26))); err != nil {
				t.Fatal(err)
			}
		}
		before := listRV(t, admin)
		if err := c.Rewind(realContext(t), checkpoint); err != nil {
			t.Fatal(err)
		}
		admin := clientFor(t, c.Config())
		// The restarted server writes some objects of its own, fewer than were taken back.
		if after := listRV(t, admin); after >= before {
			t.Errorf("resourceVersion %d after the rewind, %d before: must go backwards", after, before)
		}
		list, err := admin.CoreV1().ConfigMaps("default").List(realContext(t), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		names := make(map[string]bool)
		for _, item := range list.Items {
			names[item.Name] = true
		}
		if !names["before-checkpoint"] || names["after-checkpoint-aa"] {
			t.Errorf("configmaps after the rewind: %v", names)
		}
	}
}

// number reads a resourceVersion.
func number(t *testing.T, resourceVersion string) int {
	t.Helper()
	n, err := strconv.Atoi(resourceVersion)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
