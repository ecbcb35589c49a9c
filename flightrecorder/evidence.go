// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package flightrecorder

import (
	"slices"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
)

// Evidence is what the diagnosis of an incident rests on.
type Evidence struct {
	// Reason is what package freshness said of the informer when it was worst, and Cause
	// its word for what keeps it from reading, if that is so.
	Reason string `json:"reason,omitempty"`
	Cause  string `json:"cause,omitempty"`
	// Behind is what lags: the stream, the store, or a handler.
	Behind freshness.Level `json:"behind"`

	// Watch is the one that is suspected, as it was before anything was done about it.
	Watch Watch `json:"watch,omitzero"`
	// Store is the resourceVersion that reads of the cache were at, Moved when that last
	// moved, and By what moved it: an event, or a bookmark or list.
	Store string    `json:"store,omitempty"`
	Moved time.Time `json:"moved,omitzero"`
	By    string    `json:"by,omitempty"`

	// Read is the resourceVersion that the API server last said everything was at, and
	// ReadAt when. ReadsFailed is how many reads have failed since the last that did not.
	Read        string    `json:"read,omitempty"`
	ReadAt      time.Time `json:"readAt,omitzero"`
	ReadsFailed int       `json:"readsFailed,omitempty"`
	// Server is what the API server last said of its own watch cache.
	Server ServerAnswer `json:"server,omitzero"`

	// SameConnection are the other watches on the connection of the suspected one, and
	// OtherConnections those on others.
	SameConnection   Neighbours `json:"sameConnection"`
	OtherConnections Neighbours `json:"otherConnections"`
	// Informers are those that were not fresh when most were not, of how many.
	Informers Share `json:"informers"`

	// PingLost tells that the connection was closed since it did not answer a PING, and
	// Deaf that it was since it answered nothing else.
	PingLost bool `json:"pingLost,omitempty"`
	Deaf     bool `json:"deaf,omitempty"`
	// Carried is how many watches a connection carried when it was closed.
	Carried int `json:"carried,omitempty"`
	// DialsFailed is how often no connection could be opened, and Refused how often a
	// credential was answered with 401, since the incident began.
	DialsFailed int `json:"dialsFailed,omitempty"`
	Refused     int `json:"refused,omitempty"`

	// Objects are those that an audit found to differ, of how many. Their names are not
	// kept.
	Objects Share `json:"objects"`
	// Cures are what was tried, in this order: the first 16 and the last 16, between which
	// CuresLeftOut are not kept.
	Cures        []Cure `json:"cures,omitempty"`
	CuresLeftOut int    `json:"curesLeftOut,omitempty"`
}

// curesKept bounds what an incident without end remembers.
const curesKept = 32

// try adds a cure that is tried.
func (ev *Evidence) try(c Cure) {
	if len(ev.Cures) == curesKept {
		ev.Cures = slices.Delete(ev.Cures, curesKept/2, curesKept/2+1)
		ev.CuresLeftOut++
	}
	ev.Cures = append(ev.Cures, c)
}

// Watch is what is known of a watch.
type Watch struct {
	Open     bool      `json:"open"`
	Since    time.Time `json:"since,omitzero"`
	Answered time.Time `json:"answered,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
	// EndedBy is why it ended, by package transport's word.
	EndedBy string `json:"endedBy,omitempty"`
	// TimeoutSeconds is what the API server was asked to end it after.
	TimeoutSeconds float64 `json:"timeoutSeconds,omitempty"`
	// Protocol, LastByte and Bytes are known with package transport only.
	Protocol string    `json:"protocol,omitempty"`
	LastByte time.Time `json:"lastByte,omitzero"`
	Bytes    int64     `json:"bytes,omitempty"`
	Local    string    `json:"local,omitempty"`
	Remote   string    `json:"remote,omitempty"`
	// Reused tells whether its connection had carried other requests before.
	Reused bool `json:"reused,omitempty"`
}

// silentSince is when the watch last brought something, as far as that is known.
func (w Watch) silentSince() time.Time {
	switch {
	case !w.LastByte.IsZero():
		return w.LastByte
	case !w.Answered.IsZero():
		return w.Answered
	}
	return w.Since
}

// ServerAnswer is what an API server said of its own watch cache for a kind.
type ServerAnswer struct {
	Time time.Time `json:"time"`
	// State says whether that had reached what was overdue, and ResourceVersion where it
	// stood.
	State           freshness.ServerState `json:"state"`
	ResourceVersion string                `json:"resourceVersion,omitempty"`
	// SameConnection tells that the answer came over the connection of the watch.
	SameConnection bool `json:"sameConnection,omitempty"`
}

// Neighbours are watches beside the suspected one.
type Neighbours struct {
	// Watches is how many there were, and Alive how many of them have brought something
	// after the suspected one fell silent.
	Watches int `json:"watches"`
	Alive   int `json:"alive"`
}

// Share is so many of so many.
type Share struct {
	Some int `json:"some"`
	Of   int `json:"of"`
}

// Cure is one that was tried.
type Cure struct {
	Cure freshness.Rung `json:"cure"`
	At   time.Time      `json:"at"`
	// Worked and Failed tell what it showed; neither: nothing yet. Done is when.
	Worked bool      `json:"worked,omitempty"`
	Failed bool      `json:"failed,omitempty"`
	Done   time.Time `json:"done,omitzero"`
}
