// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
)

// optimised returns a picture with at most 256 colours, as small as it gets: on a page of
// plain colours nobody sees a difference.
func optimised(picture []byte) ([]byte, error) {
	from, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	bounds := from.Bounds()
	count := map[color.RGBA]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[rgba(from.At(x, y))]++
		}
	}
	colors := palette(count)
	nearest := make(map[color.RGBA]uint8, len(count))
	for c := range count {
		nearest[c] = uint8(colors.Index(c)) //nolint:gosec // there are at most 256
	}
	to := image.NewPaletted(bounds, colors)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			to.SetColorIndex(x, y, nearest[rgba(from.At(x, y))])
		}
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, to)
	return out.Bytes(), err
}

func rgba(c color.Color) color.RGBA {
	r, g, b, _ := c.RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0xff} //nolint:gosec // the upper half of 16 bits
}

// palette chooses the colours that are there most, but none close to one that was chosen:
// those are the shades of the edges of letters.
func palette(count map[color.RGBA]int) color.Palette {
	sorted := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var out color.Palette
	for _, apart := range []int{150, 50, 0} { // squared distance
		for _, c := range sorted {
			if len(out) == 256 {
				return out
			}
			if !slices.ContainsFunc(out, func(o color.Color) bool { return distance(c, rgba(o)) <= apart }) {
				out = append(out, c)
			}
		}
	}
	return out
}

func distance(a, b color.RGBA) int {
	r, g, bl := int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B)
	return r*r + g*g + bl*bl
}
