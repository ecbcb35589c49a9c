// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import "fmt"

// ServerState is an API server's answer to "has your own watch cache reached this
// resourceVersion?".
type ServerState int

const (
	// ServerUnknown: it was not asked, or has not answered.
	ServerUnknown ServerState = iota
	// ServerReached: it has.
	ServerReached
	// ServerLate: it has not, or not yet.
	ServerLate
	// ServerFrozen: it has not, and has not moved between two answers.
	ServerFrozen
)

var serverNames = [...]string{"unknown", "reached", "late", "frozen"}

// String returns the state's name.
func (s ServerState) String() string {
	if s < 0 || int(s) >= len(serverNames) {
		return fmt.Sprintf("ServerState(%d)", int(s))
	}
	return serverNames[s]
}

// MarshalText implements encoding.TextMarshaler.
func (s ServerState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
