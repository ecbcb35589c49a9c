// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package chromium

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Tab is a page that is open. Its methods are not for concurrent use.
type Tab struct {
	ctx   context.Context //nolint:containedctx // that of the tab, as chromedp wants it
	close func()

	mu         sync.Mutex
	complaints []string
	requests   []string
}

// Open opens a page in a tab of its own, and waits until it has loaded. The caller closes
// the tab.
func (b *Browser) Open(url string, look Look) (_ *Tab, err error) {
	t := &Tab{}
	t.ctx, t.close = chromedp.NewContext(b.ctx)
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	if err := chromedp.Do(t.ctx); err != nil { // has the tab made, for good
		return nil, err
	}
	if err := chromedp.Listen(t.ctx, t.hear); err != nil {
		return nil, err
	}
	if err := t.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
		return err
	})); err != nil {
		return nil, err
	}
	if err := t.Look(look); err != nil {
		return nil, err
	}
	if err := t.do(chromedp.Navigate(url)); err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	return t, nil
}

// Close closes the tab.
func (t *Tab) Close() { t.close() }

// Look changes what the page is shown on.
func (t *Tab) Look(look Look) error {
	var features []*emulation.MediaFeature
	for name, value := range look.features() {
		features = append(features, &emulation.MediaFeature{Name: name, Value: value})
	}
	return t.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		if err != nil {
			return err
		}
		_, err = cdp.Call(ctx, target, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: look.Width, Height: look.Height, DeviceScaleFactor: look.Scale, Mobile: look.Width < 600,
		})
		if err != nil {
			return err
		}
		_, err = cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: look.NoScript})
		return err
	}))
}

// hear notes what the page asks for, and what the browser complains about.
func (t *Tab) hear(event any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		t.requests = append(t.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		t.complaints = append(t.complaints, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		t.complaints = append(t.complaints, fmt.Sprintf("console.%s", e.Type))
	case *log.EventEntryAdded:
		t.complaints = append(t.complaints, fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text))
	case *page.EventJavascriptDialogOpening:
		t.complaints = append(t.complaints, "dialog: "+e.Message)
	}
}

// Complaints returns what went to the console, and what was thrown.
func (t *Tab) Complaints() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.complaints)
}

// Requests returns the addresses that were asked for.
func (t *Tab) Requests() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.requests)
}

// Press presses keys, of package kb or characters.
func (t *Tab) Press(keys string, modifiers ...chromedp.Modifier) error {
	return t.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// Shot returns a picture of what is seen, as PNG.
func (t *Tab) Shot() ([]byte, error) { return run(t, chromedp.CaptureScreenshot()) }

// Accessibility returns what assistive technology is told.
func (t *Tab) Accessibility() ([]*accessibility.Node, error) {
	return run(t, func(ctx context.Context, target *chromedp.Target) ([]*accessibility.Node, error) {
		r, err := cdp.Call(ctx, target, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		return r.Nodes, err
	})
}

// Eval returns what an expression in JavaScript is, once it is settled. A function, since
// methods have no type parameters.
func Eval[T any](t *Tab, expression string) (T, error) {
	return run(t, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Await waits until an expression in JavaScript is true.
func (t *Tab) Await(expression string) error {
	return t.do(chromedp.Poll[chromedp.Void]("Boolean("+expression+")", chromedp.WithPollingTimeout(patience)))
}

func (t *Tab) do(a chromedp.Action[chromedp.Void]) error {
	_, err := run(t, a)
	return err
}

// run does one thing within patience.
func run[T any](t *Tab, a chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, a)
}

// Go has the tab show another page, and waits until that has loaded.
func (t *Tab) Go(url string) error { return t.do(chromedp.Navigate(url)) }

// Settle waits for a tenth of a second, for what no script can be asked about.
func (t *Tab) Settle() error { return t.do(chromedp.Sleep(100 * time.Millisecond)) }

// Busy returns for how long the page has kept a processor busy.
func (t *Tab) Busy() (time.Duration, error) {
	return run(t, func(ctx context.Context, target *chromedp.Target) (time.Duration, error) {
		r, err := cdp.Call(ctx, target, performance.GetMetrics, cdp.Empty{})
		if err != nil {
			return 0, err
		}
		for _, m := range r.Metrics {
			if m.Name == "TaskDuration" {
				return time.Duration(m.Value * float64(time.Second)), nil
			}
		}
		return 0, fmt.Errorf("no TaskDuration among %d metrics", len(r.Metrics))
	})
}
