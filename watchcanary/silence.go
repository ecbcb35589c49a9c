// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package watchcanary

import "github.com/go-logr/logr"

// silence is a sink that logs nothing: logr.Discard has none, which is taken for a
// logger that was not given.
type silence struct{}

func (silence) Init(logr.RuntimeInfo)            {}
func (silence) Enabled(int) bool                 { return false }
func (silence) Info(int, string, ...any)         {}
func (silence) Error(error, string, ...any)      {}
func (s silence) WithValues(...any) logr.LogSink { return s }
func (s silence) WithName(string) logr.LogSink   { return s }
