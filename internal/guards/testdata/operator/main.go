// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Command operator is the smallest program that takes freshwatch.
package main

import "fmt"

func main() {
	fmt.Println("fresh")
}
