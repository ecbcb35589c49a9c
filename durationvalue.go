// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import "time"

// durationValue is a flag whose default is that of a package: what is not set stays 0,
// since a default can depend on other options.
type durationValue struct {
	value *time.Duration
	def   time.Duration
}

// String implements flag.Value, and says the default in the usage.
func (v *durationValue) String() string {
	switch {
	case v.value == nil: // made by package flag, to learn what an empty one says
		return ""
	case *v.value == 0:
		return v.def.String()
	}
	return v.value.String()
}

// Set implements flag.Value.
func (v *durationValue) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err == nil {
		*v.value = d
	}
	return err
}
