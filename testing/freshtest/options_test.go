// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/freshwatch/freshwatch/testing/freshtest"
)

func TestOptionsThatAreNotValid(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options freshtest.Options
		want    []string
	}{
		{"FreshWait", freshtest.Options{FreshWait: -1}, []string{"FreshWait", "-1ns", "negative"}},
		{"ProgressDelay", freshtest.Options{ProgressDelay: -1}, []string{"ProgressDelay", "-1ns", "negative"}},
		{"ProgressNotify", freshtest.Options{ProgressNotify: -1}, []string{"ProgressNotify", "-1ns", "negative"}},
		{
			"ProgressDelay and FreshWait", freshtest.Options{ProgressDelay: freshtest.DefaultFreshWait},
			[]string{"ProgressDelay", "3s", "below FreshWait"},
		},
		{
			"kind", freshtest.Options{Kinds: []freshtest.Kind{{Version: "v1", Kind: "X"}}},
			[]string{"Kinds", "Resource", "required"},
		},
		{
			"two versions",
			freshtest.Options{Kinds: []freshtest.Kind{
				{Version: "v1", Kind: "X", Resource: "xs"}, {Version: "v2", Kind: "X", Resource: "xs"},
			}},
			[]string{"Kinds", "xs", "twice"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := freshtest.NewServer(tt.options)
			if err == nil {
				t.Fatal("no error")
			}
			for _, word := range tt.want {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
		})
	}
}

func TestKindReplacesADefault(t *testing.T) {
	srv := freshtest.Start(t, freshtest.Options{Kinds: []freshtest.Kind{
		{Version: "v2", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true},
	}})
	if got := srv.WatchCacheResourceVersion(configMaps); got != 0 {
		t.Error("the default is still served")
	}
	if got := srv.WatchCacheResourceVersion(configMaps.GroupResource().WithVersion("v2")); got == 0 {
		t.Error("the given kind is not served")
	}
}

func TestBubbleThatIsNotPrepared(t *testing.T) {
	prepared := utilruntime.ErrorHandlers
	setHandlers := func(handlers []utilruntime.ErrorHandler) {
		utilruntime.ErrorHandlers = handlers //nolint:reassign // It is what the test is about.
	}
	defer setHandlers(prepared)
	setHandlers(slices.Concat(prepared, originalHandlers))

	synctest.Test(t, func(t *testing.T) {
		_, err := freshtest.NewServer(freshtest.Options{})
		if err == nil || !strings.Contains(err.Error(), "PrepareBubbles") {
			t.Errorf("%v, want a word about PrepareBubbles", err)
		}
	})
	srv, err := freshtest.NewServer(freshtest.Options{})
	if err != nil {
		t.Fatalf("outside of a bubble: %v", err)
	}
	srv.Close()
	srv.Close()
	freshtest.PrepareBubbles()
	if got, want := len(utilruntime.ErrorHandlers), 2*len(prepared); got != want {
		t.Errorf("%d handlers are left, want %d: all but one", got, want)
	}
}
