// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/freshwatch/freshwatch/testing/page/internal/chromium"
)

// browsers is the one browser of all tests, which the first of them starts.
type browsers struct {
	once    sync.Once
	browser *chromium.Browser
	err     error
}

var one browsers

func (b *browsers) get(t *testing.T) *chromium.Browser {
	t.Helper()
	b.once.Do(func() { b.browser, b.err = chromium.Start(context.Background(), ".") })
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b.browser
}

// suite closes the browser after the last test.
type suite struct{ *testing.M }

// Run implements goleak.TestingM.
func (s suite) Run() int {
	code := s.M.Run()
	if one.browser != nil {
		one.browser.Close()
	}
	return code
}

func TestMain(m *testing.M) {
	if _, err := os.Stat("chromium.sh"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(suite{m})
}
