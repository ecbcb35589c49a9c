// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"log"
	"strings"

	"github.com/go-logr/logr"
)

// errorLog is for net/http, which takes nothing but a log.Logger. What it has to say is mostly of connections that were
// broken on purpose, hence V(1).
func errorLog(logger logr.Logger) *log.Logger {
	return log.New(&logWriter{logger.V(1)}, "", 0)
}

// logWriter sends the lines of a log.Logger to a logr.Logger.
type logWriter struct{ logger logr.Logger }

// Write logs one line.
func (w *logWriter) Write(line []byte) (int, error) {
	w.logger.Info(strings.TrimSpace(string(line)))
	return len(line), nil
}
