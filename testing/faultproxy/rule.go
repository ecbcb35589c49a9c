// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"fmt"
	"reflect"
	"time"
)

// rule is an injection of the API proxy. Its counters are guarded by the proxy's mutex.
type rule struct {
	inj   *Injection
	match Match
	fault Fault

	timer          *time.Timer // ends it, if not nil
	seen, admitted int
	requests       int // counted by GoAway
	spent          int // events, counted by DropEvents
}

// admits decides, once for each request, whether the fault is to hit it.
func (r *rule) admits(ex *exchange) bool {
	if !r.fault.appliesTo(ex.attributes) || !r.match.matches(ex.attributes) {
		return false
	}
	r.seen++
	if r.seen <= r.match.After || (r.match.Times > 0 && r.admitted >= r.match.Times) {
		return false
	}
	r.admitted++
	return true
}

// Inject puts a fault in force for the requests that m selects: those under way, oldest first, and those to come. It
// returns when no request can pass unharmed any more; bytes already handed to a client's connection are not called back.
// On a proxy that is closed the injection is over at once; a nil Fault does nothing.
func (p *API) Inject(m Match, f Fault) *Injection {
	p.mu.Lock()
	defer p.mu.Unlock()
	f = plain(f)
	r := &rule{match: m, fault: f}
	r.inj = p.journal.inject(describe(f), m.String(), func() { p.withdraw(r) })
	if p.closed {
		go r.inj.finish(Closed)
		return r.inj
	}
	for _, ex := range p.liveLocked() {
		if r.admits(ex) {
			strike(ex, r, true)
		}
	}
	if only, ok := f.(interface{ onlyOpen() bool }); !ok || !only.onlyOpen() {
		p.rules = append(p.rules, r)
	}
	if m.For > 0 {
		r.timer = time.AfterFunc(m.For, func() { r.inj.finish(Expired) })
	}
	return r.inj
}

// strike attaches a fault to a request; open says that the request was there first.
func strike(ex *exchange, r *rule, open bool) {
	ex.attach(r)
	if f, ok := r.fault.(attachFault); ok {
		f.onAttach(ex, r, open)
	}
}

func (p *API) withdraw(r *rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
	}
	p.rules = without(p.rules, r)
	for _, ex := range p.live {
		ex.changed.notify()
	}
}

// nothing is the fault that a nil Fault stands for.
type nothing struct{}

func (nothing) appliesTo(*attributes) bool { return false }

// plain returns the value of a fault that was given by its address.
func plain(f Fault) Fault {
	v := reflect.ValueOf(f)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if !v.IsValid() || v.Kind() == reflect.Pointer {
		return nothing{}
	}
	value, ok := reflect.TypeAssert[Fault](v)
	if !ok {
		return nothing{}
	}
	return value
}

// describe names a fault by its type and the settings it was given.
func describe(f Fault) string {
	name, settings := reflect.TypeOf(f).Name(), fmt.Sprintf("%+v", f)
	if reflect.ValueOf(f).IsZero() {
		return name
	}
	return name + settings
}

// spend takes one of the n events that a fault may drop, and reports whether there was one left.
func (p *API) spend(r *rule, n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.spent >= n {
		return false
	}
	r.spent++
	return true
}
