// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"reflect"
	"testing"
	"time"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/internal/snapshots"
	"github.com/freshwatch/freshwatch/testing/page/internal/chromium"
)

// TestHostile: whatever a name or a text may hold is shown, and never run, neither when the
// page is loaded nor when it is refreshed.
func TestHostile(t *testing.T) {
	for _, hostile := range []string{
		`<script>window.owned = 1</script>`,
		`"><img src=x onerror="window.owned = 1">`,
		`' onfocus='window.owned = 1' autofocus tabindex='0`,
		`</style><svg onload="window.owned = 1">`,
		`--></title><iframe srcdoc="<script>top.owned = 1</script>">`,
		"javascript:window.owned=1//{{.Title}}`${alert(1)}",
	} {
		s := newStage(t, snapshots.Empty())
		b := s.open(t, chromium.Desktop())
		scene := snapshots.Troubled()
		poison(reflect.ValueOf(&scene).Elem(), hostile)
		s.show(scene) // by refreshing
		const holds = "document.querySelector('#informers + * + * + * + ul .name, .informer .name') && document.body.innerText.includes"
		b.await(holds + "(" + quote(hostile) + ")")
		again := s.open(t, chromium.Desktop()) // by loading
		again.await(holds + "(" + quote(hostile) + ")")
		for _, at := range []*tab{b, again} {
			if !eval[bool](at, "window.owned === undefined && document.querySelectorAll('script').length === 1 && document.querySelectorAll('img, iframe, [onload], [onerror], [onfocus], [autofocus]').length === 0") {
				t.Errorf("%s: the page was taken over", hostile)
			}
		}
	}
}

// poison puts a text into every string of a snapshot that somebody else may have chosen.
func poison(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				poison(v.Field(i), text)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), text)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), text)
		}
	case reflect.Map:
		if sums, ok := reflect.TypeAssert[map[string]flightrecorder.CureSum](v); ok {
			sums[text] = flightrecorder.CureSum{Tried: 1}
		}
	default:
	}
}
