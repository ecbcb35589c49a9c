// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/freshwatch/freshwatch/flightrecorder"
)

const (
	// DefaultRefresh shows a cure, which takes seconds, while it happens.
	DefaultRefresh = 5 * time.Second

	leastRefresh = time.Second
	mostRefresh  = time.Hour
	titleLimit   = 80
)

// Options configures a page. Recorder is required.
type Options struct {
	// Recorder is asked once for each request. A *flightrecorder.Recorder is one.
	Recorder interface {
		Snapshot() flightrecorder.Snapshot
	}

	// Title says whose page it is: of several operators, or of several replicas of one,
	// each in a tab of a browser.
	//
	// Defaults to the name of the program. At most 80 characters.
	Title string

	// Refresh is how often the page asks for what is new, in a browser, while somebody
	// looks at it. It can be paused there.
	//
	// Defaults to 5 s. At least 1 s, since with 1,000 informers a page takes the server
	// some hundredths of a second; at most an hour, since a page that is older looks as if
	// it were not.
	Refresh time.Duration

	// Links are shown at the foot of the page: to a dashboard, or to a runbook.
	Links []Link
}

// Link is one to another page.
type Link struct {
	// Text is what is shown.
	Text string
	// URL is where it leads, by http or https; without either it is relative to the page.
	URL string
}

// withDefaults returns o completed and checked.
func (o Options) withDefaults() (Options, error) {
	var errs []error
	if r := reflect.ValueOf(o.Recorder); o.Recorder == nil || r.Kind() == reflect.Pointer && r.IsNil() {
		errs = append(errs, errors.New("debugpage: Options.Recorder is nil, but must be set: it is what is shown"))
	}
	if o.Title == "" {
		o.Title = filepath.Base(os.Args[0])
	}
	if n := utf8.RuneCountInString(o.Title); n > titleLimit {
		errs = append(errs, fmt.Errorf("debugpage: Options.Title has %d characters, but must have at most %d (it has to fit a tab and a phone)", n, titleLimit))
	}
	if o.Refresh == 0 {
		o.Refresh = DefaultRefresh
	}
	if o.Refresh < leastRefresh || o.Refresh > mostRefresh {
		errs = append(errs, fmt.Errorf("debugpage: Options.Refresh is %v, but must be at least %v and at most %v", o.Refresh, leastRefresh, mostRefresh))
	}
	for i, l := range o.Links {
		if err := l.check(i); err != nil {
			errs = append(errs, err)
		}
	}
	return o, errors.Join(errs...)
}

func (l Link) check(i int) error {
	if strings.TrimSpace(l.Text) == "" {
		return fmt.Errorf("debugpage: Options.Links[%d].Text is %q, but must be set", i, l.Text)
	}
	u, err := url.Parse(l.URL)
	if err != nil || l.URL == "" || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("debugpage: Options.Links[%d].URL is %q, but must be one of http or https, or relative to the page", i, l.URL)
	}
	if u.User != nil {
		return fmt.Errorf("debugpage: Options.Links[%d].URL holds a user or a password, but must not: everybody who sees the page sees it", i)
	}
	return nil
}
