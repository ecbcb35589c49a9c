// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"time"
)

// result is a line of the report. Times are in seconds, null stands for what did
// not happen.
type result struct {
	ID       string   `json:"id"`
	Fault    string   `json:"fault"`
	Verdict  string   `json:"verdict"`    // the gravest that the guard had
	CuredBy  string   `json:"cured_by"`   // empty: nothing did
	Detected *float64 `json:"detected_s"` // since the fault
	Healed   *float64 `json:"healed_s"`   // since the edit: it is in the cache, and proven
	// Requests are those of the guarded client until it was healed.
	Requests int64 `json:"requests"`
	// Relisted are the objects that it was sent to fill its cache since the fault.
	Relisted       int64 `json:"relisted_objects"`
	LivenessFailed bool  `json:"liveness_failed"`
	// StockHealed is when the stock informer saw the edit, as long as anybody looked.
	StockHealed *float64 `json:"stock_healed_s"`
	Expected    string   `json:"expected"`
	OK          bool     `json:"ok"`

	complaints []string
	history    string
	asked      []string
}

// resultOf holds an outcome to what its row wants.
func resultOf(r *row, o outcome) result {
	complaints := r.want.check(o)
	return result{
		ID: r.id, Fault: r.fault, Verdict: o.history.gravest(o.start).String(), CuredBy: o.cured(),
		Detected: seconds(o.detected), Healed: seconds(o.healed), StockHealed: seconds(o.stock),
		Requests: o.requests, Relisted: o.relisted, LivenessFailed: o.unhealthy != "",
		Expected: r.want.String(), OK: len(complaints) == 0,
		complaints: complaints, history: o.history.since(o.fault), asked: o.asked,
	}
}

// seconds rounds to tenths; what did not happen is nil.
func seconds(d time.Duration) *float64 {
	if d < 0 {
		return nil
	}
	return new(math.Round(d.Seconds()*10) / 10)
}
