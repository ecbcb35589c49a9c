// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package snapshots

import (
	"fmt"
	"math/rand/v2"

	"github.com/freshwatch/freshwatch/flightrecorder"
	"github.com/freshwatch/freshwatch/freshness"
)

// Many is of an operator with so many informers, with long names and full logs, of which
// one in a hundred is not fresh.
func Many(n int) flightrecorder.Snapshot {
	s := Stalled()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	for i := len(s.Informers); i < n; i++ {
		in := Informer(freshness.Informer{
			Group: "platform.example.com", Version: "v1beta1", Resource: fmt.Sprintf("customresources%04d", i), Namespace: fmt.Sprintf("team-%02d-production", i%37),
		}, random.Float64()*62)
		for len(in.Log) < 48 {
			in.Log = append(in.Log, flightrecorder.Entry{
				Time: ago(9_000 - float64(len(in.Log))*180), Count: 1, What: fmt.Sprintf("watch over %s to %s ended after 3m5.%ds by server; %d bytes, the last 2.1s before", first, server, i%10, random.IntN(100_000)),
			})
		}
		if i%100 == 99 {
			in.Verdict, in.Reason, in.Since = freshness.Suspect, "a proof is overdue", ago(7)
		}
		s.Informers = append(s.Informers, in)
	}
	return s
}
