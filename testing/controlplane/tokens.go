// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
)

// The users in kube-apiserver's token file. RBAC's default roles are bound to the names of the two components.
const (
	adminUser             = "admin"
	controllerManagerUser = "system:kube-controller-manager"
	schedulerUser         = "system:kube-scheduler"
	adminGroup            = "system:masters"
)

// writeTokens writes the file of static tokens and returns the token of each user.
func writeTokens(path string) (map[string]string, error) {
	tokens := make(map[string]string)
	var file strings.Builder
	for _, user := range []struct{ name, group string }{
		{adminUser, adminGroup},
		{controllerManagerUser, ""},
		{schedulerUser, ""},
	} {
		tokens[user.name] = rand.Text()
		fmt.Fprintf(&file, "%s,%s,%s,%q\n", tokens[user.name], user.name, user.name, user.group)
	}
	return tokens, os.WriteFile(path, []byte(file.String()), 0o600)
}
