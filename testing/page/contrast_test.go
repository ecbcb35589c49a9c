// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/freshwatch/freshwatch/internal/snapshots"
	"github.com/freshwatch/freshwatch/testing/page/internal/chromium"
)

// TestContrast computes for every text and every sign, from the styles as the browser has
// computed them, whether it stands out from what is behind it, as WCAG 2.2 AA wants: 4.5:1
// for text, 3:1 for large text and for signs.
func TestContrast(t *testing.T) {
	all := scenes()
	for _, name := range names(all) {
		for _, dark := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/dark=%t", name, dark), func(t *testing.T) {
				look := chromium.Desktop()
				look.Dark, look.Reduced = dark, true
				b := newStage(t, all[name]).open(t, look)
				b.unfold()
				got := eval[contrast](b, contrasts)
				if len(got.Faint) > 0 {
					t.Errorf("too faint:\n%s", strings.Join(got.Faint, "\n"))
				}
				if got.Texts < 20 || got.Signs < 5 {
					t.Errorf("only %d texts and %d signs were looked at", got.Texts, got.Signs)
				}
			})
		}
	}
}

// TestFaintIsSeen is the control of the test above.
func TestFaintIsSeen(t *testing.T) {
	for _, change := range []string{
		"document.querySelector('.asof').style.color = 'rgb(150, 160, 170)'",
		"document.querySelector('.hero').style.backgroundColor = 'rgb(90, 90, 90)'",
		"document.querySelector('.hero .icon').style.fill = 'rgb(240, 220, 220)'",
		"document.querySelector('.more').style.opacity = '.4'",
	} {
		b := newStage(t, snapshots.Stalled()).open(t, chromium.Look{Width: 1200, Height: 900, Scale: 1, Reduced: true})
		eval[string](b, change)
		if got := eval[contrast](b, contrasts); len(got.Faint) == 0 {
			t.Errorf("%s: not seen", change)
		}
	}
}

// contrast is what was looked at, and what is too faint.
type contrast struct {
	Texts, Signs int
	Faint        []string
}

const contrasts = `(() => {
	const rgba = (s) => {
		const m = s.match(/[\d.]+/g).map(Number);
		return s.startsWith("color(srgb") ? [m[0] * 255, m[1] * 255, m[2] * 255, m[3] ?? 1] : [m[0], m[1], m[2], m[3] ?? 1];
	};
	const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
	const opacity = (e) => { let o = 1; for (; e; e = e.parentElement) o *= Number(getComputedStyle(e).opacity); return o; };
	const behind = (e) => {
		const layers = [];
		for (; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
		return layers.reverse().reduce((below, above) => over(above, below), [255, 255, 255, 1]);
	};
	const light = (c) => {
		const [r, g, b] = c.slice(0, 3).map((v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
		return .2126 * r + .7152 * g + .0722 * b;
	};
	const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((m, n) => n - m); return (x + .05) / (y + .05); };
	const out = { Texts: 0, Signs: 0, Faint: [] };
	const judge = (what, color, e, ground, least) => {
		color = [...color.slice(0, 3), color[3] * opacity(e)];
		const r = ratio(over(color, ground), ground);
		if (r < least) out.Faint.push(r.toFixed(2) + " of " + least + ": " + what + " in " + e.className + " of " + e.parentElement.className + ", " + color + " on " + ground);
	};
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement, text = walk.currentNode.data.trim();
		if (!text || e.closest("script, style, noscript, title, desc, .unseen, .skip") || !e.checkVisibility()) continue;
		const style = getComputedStyle(e), size = parseFloat(style.fontSize);
		const large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
		out.Texts++;
		judge(JSON.stringify(text.slice(0, 30)), rgba(style.color), e, behind(e), large ? 3 : 4.5);
	}
	for (const e of document.querySelectorAll("input")) {
		if (!e.checkVisibility()) continue;
		judge("placeholder", rgba(getComputedStyle(e, "::placeholder").color), e, behind(e), 4.5);
		judge("border", rgba(getComputedStyle(e).borderTopColor), e, behind(e.parentElement), 3);
	}
	for (const e of document.querySelectorAll("svg.icon, .fill, .limit, .line, .dots")) {
		if (!e.checkVisibility()) continue;
		const style = getComputedStyle(e);
		out.Signs++;
		judge(e.outerHTML.slice(0, 60), rgba(e.matches("svg") ? style.fill : style.stroke), e, behind(e.closest("svg")), 3);
	}
	return out;
})()`
