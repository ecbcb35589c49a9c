// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// maxAddedPackages bounds what a plain client-go program gains from one core
// package, the module's own packages aside. Measured with client-go 0.37 and
// client_golang 1.25: 15 packages, nearly all of them the Prometheus client's;
// controller-runtime would be 228.
const maxAddedPackages = 30

// corePackages are the ones that a program without controller-runtime takes. One
// that is not written yet is left out.
func corePackages(t *testing.T) []string {
	t.Helper()
	packages := slices.DeleteFunc([]string{"apiservers", "freshevents", "freshinformers", "freshness", "transport", "watchcanary"}, func(dir string) bool {
		_, err := os.Stat(filepath.Join(repoRoot, dir))
		return err != nil
	})
	if len(packages) == 0 {
		t.Fatal("no core package found: the guard would prove nothing")
	}
	return packages
}

// clientGo is what every client-go program with an informer is built from.
var clientGo = []string{
	"k8s.io/client-go/kubernetes",
	"k8s.io/client-go/rest",
	"k8s.io/client-go/tools/cache",
}

// factories are what else is in a program that takes a package which stands for
// client-go's factories.
var factories = map[string][]string{
	"freshinformers": {"k8s.io/client-go/dynamic/dynamicinformer", "k8s.io/client-go/metadata/metadatainformer"},
}

// allowedAdditions are the third-party packages that a core package may bring, as
// path prefixes. The Prometheus client is the only reason so far: the monitor is a
// Collector. A new line here is a cost to every user and needs as good a reason.
var allowedAdditions = []string{
	"github.com/beorn7/perks/",
	"github.com/cespare/xxhash/",
	"github.com/prometheus/",
	"google.golang.org/protobuf/",
}

// forbiddenAnywhere must not be reached from a core package, not even through a
// package that is allowed.
var forbiddenAnywhere = []string{
	"k8s.io/kubernetes/",
	"sigs.k8s.io/controller-runtime",
	"testing",
}

func TestCorePackagesStayLight(t *testing.T) {
	module := modulePath(t)
	for _, dir := range corePackages(t) {
		t.Run(dir, func(t *testing.T) {
			baseline := dependencies(t, append(factories[dir], clientGo...)...)
			deps := dependencies(t, "./"+dir)
			if got := withAnyPrefix(deps, forbiddenAnywhere); len(got) != 0 {
				t.Errorf("%s reaches packages that a core package must not have:\n%s", dir, strings.Join(got, "\n"))
			}
			added := slices.DeleteFunc(without(deps, baseline), func(pkg string) bool {
				return strings.HasPrefix(pkg, module+"/")
			})
			t.Logf("%s adds %d packages to a client-go program of %d", dir, len(added), len(baseline))
			if len(added) > maxAddedPackages {
				t.Errorf("%s adds %d packages, want at most %d:\n%s", dir, len(added), maxAddedPackages, strings.Join(added, "\n"))
			}
			if got := unexpected(added); len(got) != 0 {
				t.Errorf("%s adds third-party packages that allowedAdditions does not name:\n%s", dir, strings.Join(got, "\n"))
			}
		})
	}
}

// TestWeightRulesBite runs the same rules on controller-runtime itself, which
// breaks every one of them.
func TestWeightRulesBite(t *testing.T) {
	deps := dependencies(t, "sigs.k8s.io/controller-runtime/pkg/manager")
	if len(withAnyPrefix(deps, forbiddenAnywhere)) == 0 {
		t.Error("controller-runtime was not found among its own dependencies")
	}
	added := without(deps, dependencies(t, clientGo...))
	if len(added) <= maxAddedPackages {
		t.Errorf("controller-runtime adds %d packages, which the bound of %d would let pass", len(added), maxAddedPackages)
	}
	if len(unexpected(added)) == 0 {
		t.Error("controller-runtime adds third-party packages, and none was found unexpected")
	}
}

func TestUnexpected(t *testing.T) {
	got := unexpected([]string{
		"example.com/new/dependency",
		"expvar",
		"github.com/prometheus/client_golang/prometheus",
		"golang.org/x/net/http2",
		"k8s.io/client-go/metadata",
		"net/http",
	})
	want := []string{"example.com/new/dependency", "golang.org/x/net/http2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected packages (-want +got):\n%s", diff)
	}
}

// dependencies returns the packages that the given ones are built from,
// themselves included, sorted.
func dependencies(t *testing.T, packages ...string) []string {
	t.Helper()
	deps := strings.Fields(run(t, repoRoot, nil, "go", append([]string{"list", "-deps"}, packages...)...))
	slices.Sort(deps)
	return deps
}

// unexpected keeps the packages that are neither the standard library's, nor
// Kubernetes' own, nor allowed by name.
func unexpected(packages []string) []string {
	return slices.DeleteFunc(slices.Clone(packages), func(pkg string) bool {
		host, _, _ := strings.Cut(pkg, "/")
		standard := !strings.Contains(host, ".")
		return standard || host == "k8s.io" || len(withAnyPrefix([]string{pkg}, allowedAdditions)) != 0
	})
}

// without returns what of all is not in some; both are sorted.
func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool {
		_, found := slices.BinarySearch(some, s)
		return found
	})
}

// withAnyPrefix keeps the names that start with one of the prefixes.
func withAnyPrefix(names, prefixes []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !slices.ContainsFunc(prefixes, func(prefix string) bool {
			return strings.HasPrefix(name, prefix)
		})
	})
}
