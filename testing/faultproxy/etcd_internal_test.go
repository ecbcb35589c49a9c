// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	"google.golang.org/protobuf/encoding/protowire"
)

// A freeze that has ended leaves watches behind that have lost events. What comes between the end of the freeze and the end
// of the stream must not be delivered: the client would take it that nothing is missing.
func TestNothingFollowsWhatAFreezeHasLost(t *testing.T) {
	p := &Etcd{journal: newJournal(logr.Logger{})}
	s := newWatchStream(p, 1)
	s.watches[0] = &etcdWatch{EtcdWatch: EtcdWatch{Key: "/registry/a/"}}
	s.watches[1] = &etcdWatch{EtcdWatch: EtcdWatch{Key: "/registry/b/", ID: 1}}
	event := func(id int64) *watchResponse {
		payload := protowire.AppendTag(nil, responseEvents, protowire.BytesType)
		return &watchResponse{raw: envelop(protowire.AppendBytes(payload, nil)), watchID: id, events: 1}
	}
	inj := p.FreezeWatches("/registry/a/")
	if got := s.route(event(0), time.Now()); len(got) != 0 {
		t.Fatalf("a frozen watch got %v", got)
	}
	if got := s.route(event(1), time.Now()); len(got) != 1 {
		t.Fatalf("the watch beside it got %v", got)
	}
	inj.Lift() // the stream is not in the proxy's list: it has not heard of the end
	if got := s.route(event(0), time.Now()); len(got) != 0 || !s.dead() {
		t.Errorf("after the freeze: %v was delivered, the stream is dead: %v", got, s.dead())
	}
}

// A watch that lost nothing goes on as if there had been no freeze.
func TestAFreezeThatLostNothingLeavesNoTrace(t *testing.T) {
	p := &Etcd{journal: newJournal(logr.Logger{})}
	s := newWatchStream(p, 1)
	s.watches[0] = &etcdWatch{EtcdWatch: EtcdWatch{Key: "/registry/a/"}}
	p.FreezeWatches("/registry/a/").Lift()
	m := &watchResponse{raw: []byte("x"), events: 1}
	if got := s.route(m, time.Now()); len(got) != 1 || s.dead() {
		t.Errorf("delivered %v, dead %v", got, s.dead())
	}
}
