// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package debugpage

import (
	"hash/fnv"
	"strconv"
)

// ids gives elements names that stay the same from one page to the next. Several
// informers may have one name, such as a typed and a metadata-only one.
type ids map[string]int

func (i ids) of(kind, name string) string {
	h := fnv.New64a()
	h.Write([]byte(name))
	id := kind + "-" + strconv.FormatUint(h.Sum64(), 36)
	i[id]++
	if n := i[id]; n > 1 {
		id += "-" + strconv.Itoa(n)
	}
	return id
}
