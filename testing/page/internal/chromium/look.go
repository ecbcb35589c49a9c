// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package chromium

// Look is what a page is shown on, and to whom.
type Look struct {
	// Width and Height are in CSS pixels, and Scale is how many of the device one is.
	Width, Height int64
	Scale         float64
	Dark          bool
	// Reduced is for who wants less motion.
	Reduced bool
	// NoScript has scripts disabled.
	NoScript bool
}

// Desktop is a window on a desktop.
func Desktop() Look { return Look{Width: 1200, Height: 900, Scale: 1} }

// Phone is one of the narrowest phones there are.
func Phone() Look { return Look{Width: 360, Height: 740, Scale: 2} }

// features are those of media queries.
func (l Look) features() map[string]string {
	f := map[string]string{"prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference"}
	if l.Dark {
		f["prefers-color-scheme"] = "dark"
	}
	if l.Reduced {
		f["prefers-reduced-motion"] = "reduce"
	}
	return f
}
