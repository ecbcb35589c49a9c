// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import "strconv"

// boolValue is a flag that is true where a part is on. pflag calls its type by the name of
// this one.
type boolValue struct{ off *bool }

// IsBoolFlag has package flag take it without a value.
func (v *boolValue) IsBoolFlag() bool { return true }

// String implements flag.Value.
func (v *boolValue) String() string {
	if v.off == nil { // made by package flag, to learn what an empty one says
		return ""
	}
	return strconv.FormatBool(!*v.off)
}

// Set implements flag.Value.
func (v *boolValue) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if err == nil {
		*v.off = !on
	}
	return err
}
