// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import "fmt"

// Layer is where a fault lies, seen from the operator outwards.
type Layer int

const (
	// LayerUnknown: the evidence does not tell.
	LayerUnknown Layer = iota
	// LayerProcess: this process. A handler, a store or a reconcile blocks.
	LayerProcess
	// LayerCredential: the API server does not know this process any more.
	LayerCredential
	// LayerPermission: the API server answers, but not what was asked for: a right or a kind
	// is missing, or objects cannot be converted or understood.
	LayerPermission
	// LayerStream: one stream, on a connection that lives.
	LayerStream
	// LayerConnection: a connection, and all streams on it.
	LayerConnection
	// LayerPath: what lies between this process and the API server.
	LayerPath
	// LayerServer: the API server, or its datastore.
	LayerServer
	// LayerContents: events were lost, on streams that move.
	LayerContents
)

var layerNames = [...]string{"unknown", "process", "credential", "permission", "stream", "connection", "path", "server", "contents"}

// String returns the layer's name.
func (l Layer) String() string {
	if l < 0 || int(l) >= len(layerNames) {
		return fmt.Sprintf("Layer(%d)", int(l))
	}
	return layerNames[l]
}

// MarshalText implements encoding.TextMarshaler.
func (l Layer) MarshalText() ([]byte, error) { return []byte(l.String()), nil }
