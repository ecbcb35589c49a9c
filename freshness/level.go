// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"fmt"
	"slices"
	"time"
)

// Level is a place on the way from the API server to a program's handlers.
type Level int

const (
	// LevelNone: nothing is known to be behind.
	LevelNone Level = iota
	// LevelStream: the API server has what the stream has not brought.
	LevelStream
	// LevelStore: the store does not take what the stream brings, so that reads do not
	// see it: something in this process blocks, such as a transform or an indexer.
	LevelStore
	// LevelHandlers: the store has what a handler has not been told, since it has not
	// returned from an earlier notification for 30 s. Only handlers added with
	// Monitor.AddEventHandler are known.
	LevelHandlers
)

var levelNames = [...]string{"none", "stream", "store", "handlers"}

// String returns the level's name.
func (l Level) String() string {
	if l < 0 || int(l) >= len(levelNames) {
		return fmt.Sprintf("Level(%d)", int(l))
	}
	return levelNames[l]
}

// MarshalText implements encoding.TextMarshaler.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *Level) UnmarshalText(text []byte) error {
	i := slices.Index(levelNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("freshness: %q is no Level, but must be one of %v", text, levelNames)
	}
	*l = Level(i)
	return nil
}

// handlerPatience is how long a handler may take over one notification before it is
// called blocked. A slow one that moves is not.
const handlerPatience = 30 * time.Second

// behind returns the first level that is known to lag.
func (t *tracked) behind() Level {
	d := t.state.doubt
	switch {
	case d != nil && d.stuck:
		return LevelStore
	case d != nil && d.conclusive && d.server == ServerReached:
		return LevelStream
	case t.handlers.blocked() >= handlerPatience:
		return LevelHandlers
	default:
		return LevelNone
	}
}
