// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import "strconv"

// boolValue is a flag for what is no bool of Options, or not that alone. pflag calls its
// type by the name of this one.
type boolValue struct {
	get func() bool
	set func(on bool)
}

// partValue is a flag that is true where a part is on.
func partValue(off *bool) *boolValue {
	return &boolValue{func() bool { return !*off }, func(on bool) { *off = !on }}
}

// exitValue is one for ExitOnUnauthorized and for what Transport has of it, so that false
// turns off what a program has set up.
func exitValue(o *Options) *boolValue {
	return &boolValue{
		func() bool { return o.ExitOnUnauthorized || o.Transport.ExitOnUnauthorized != nil },
		func(on bool) {
			o.ExitOnUnauthorized = on
			if !on {
				o.Transport.ExitOnUnauthorized = nil
			}
		},
	}
}

// IsBoolFlag has package flag take it without a value.
func (v *boolValue) IsBoolFlag() bool { return true }

// String implements flag.Value.
func (v *boolValue) String() string {
	if v.get == nil { // made by package flag, to learn what an empty one says
		return strconv.FormatBool(false)
	}
	return strconv.FormatBool(v.get())
}

// Set implements flag.Value.
func (v *boolValue) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if err == nil {
		v.set(on)
	}
	return err
}
