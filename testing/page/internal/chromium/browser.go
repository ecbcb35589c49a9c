// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package chromium opens pages in a real, headless Chromium, and keeps what it has to
// complain about.
package chromium

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// patience is what one thing that a browser is asked for may take, on a machine that is
// busy with other tests.
const patience = time.Minute

// Browser is a Chromium that runs.
type Browser struct {
	ctx   context.Context //nolint:containedctx // that of the process, as chromedp wants it
	close func()
}

// Start starts one. It fails where none is installed, saying how to change that. root is
// the path of the folder that has chromium.sh. The caller closes the browser.
func Start(ctx context.Context, root string) (*Browser, error) {
	find := exec.CommandContext(ctx, "./chromium.sh", "find")
	find.Dir = root
	out, err := find.Output()
	if err != nil {
		if e := (*exec.ExitError)(nil); errors.As(err, &e) {
			return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(string(e.Stderr)))
		}
		return nil, fmt.Errorf("%s: %w", filepath.Join(root, find.Path), err)
	}
	ctx, stopAll := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(strings.TrimSpace(string(out))),
		chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("font-render-hinting", "none"), // the same letters wherever it runs
	)...)
	ctx, stop := chromedp.NewContext(ctx)
	b := &Browser{ctx: ctx, close: func() { stop(); stopAll() }}
	if err := chromedp.Do(ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("starting %s: %w", strings.TrimSpace(string(out)), err)
	}
	return b, nil
}

// Close ends the browser, and waits until it has.
func (b *Browser) Close() { b.close() }
