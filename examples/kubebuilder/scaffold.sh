#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Freshwatch Authors
# SPDX-License-Identifier: Apache-2.0

# Makes guestbook/ anew, by kubebuilder's own code, and leaves out what its operator
# does not need to be built and deployed. Run it for a newer kubebuilder, and then
# `go test .`, which says whether freshwatch.diff still applies.
set -euo pipefail
cd "$(dirname "$0")"

kubebuilder=v4.16.0
controller_tools=v0.22.0   # CONTROLLER_TOOLS_VERSION in the Makefile of the scaffold
controller_runtime=v0.25.2 # as in freshwatch's go.mod
kubernetes=v0.37.2

work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
GOBIN=$work/bin go install sigs.k8s.io/kubebuilder/v4@$kubebuilder
GOBIN=$work/bin go install sigs.k8s.io/controller-tools/cmd/controller-gen@$controller_tools

mkdir "$work/guestbook"
out=$PWD/guestbook
cd "$work/guestbook"
git init -q
"$work/bin/kubebuilder" init --domain example.com --repo example.com/guestbook --license none --fetch-deps=false
"$work/bin/kubebuilder" create api --group webapp --version v1 --kind Guestbook --resource --controller --make=false
# What the targets `generate` and `manifests` of its Makefile do.
"$work/bin/controller-gen" object paths=./...
"$work/bin/controller-gen" rbac:roleName=manager-role crd webhook paths=./... output:crd:artifacts:config=config/crd/bases

# Tests and tooling, and manifests that config/default does not use.
rm -rf .git .github .devcontainer hack test Makefile Dockerfile .dockerignore .gitignore README.md AGENTS.md \
	.custom-gcl.yml config/network-policy config/prometheus internal/controller/*_test.go
# Its linter's configuration, without the one check that needs a linter built for it.
sed -i -e '/- logcheck$/d' -e '/^    custom:/,/description: Checks Go logging/d' .golangci.yml
# In this repository every Go file says who holds its licence, as the file's first words.
find . -name '*.go' | while read -r file; do
	printf '%s\n' '// SPDX-FileCopyrightText: The Freshwatch Authors' '// SPDX-License-Identifier: Apache-2.0' '' | cat -s - "$file" >"$work/file"
	cp "$work/file" "$file"
done

go get sigs.k8s.io/controller-runtime@$controller_runtime k8s.io/{api,apimachinery,apiserver,client-go,apiextensions-apiserver,component-base,streaming}@$kubernetes
go mod tidy

rm -rf "$out"
cp -r . "$out"
