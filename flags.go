// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshwatch

import (
	"flag"
	"time"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/transport"
	"github.com/freshwatch/freshwatch/watchcanary"
)

// BindFlags defines a flag for each option that an operator is likely to be given by its
// Deployment, on fs, often flag.CommandLine, and has it set o. What o holds already is the
// flag's default. Call it before fs.Parse, and New afterwards. As with package flag itself,
// a name that fs has already is a panic.
//
// pflag takes them, too: pflag.CommandLine.AddGoFlagSet(fs).
func (o *Options) BindFlags(fs *flag.FlagSet) {
	for _, f := range []struct {
		name  string
		value *time.Duration
		def   time.Duration // of the package
		usage string
	}{
		{"http2-read-idle-timeout", &o.Transport.ReadIdleTimeout, transport.DefaultReadIdleTimeout, "`duration` without a frame on a connection to the API server until it is sent a PING"},
		{"http2-ping-timeout", &o.Transport.PingTimeout, transport.DefaultPingTimeout, "`duration` without an answer to the PING until the connection is closed, and its watches go on over another"},
		{"watch-max-duration", &o.Transport.MaxWatch, transport.DefaultMaxWatch, "longest `duration` of a watch until it is renewed: below what a load balancer on the way takes for idle"},
		{"watch-idle-timeout", &o.Transport.IdleTimeout, transport.DefaultIdleTimeout, "`duration` for which a watch may bring nothing until it is renewed"},
		{"list-timeout", &o.Transport.ListTimeout, transport.DefaultListTimeout, "`duration` for which a list may make no progress until it fails"},

		{"freshness-max-staleness", &o.Freshness.MaxStaleness, freshness.DefaultMaxStaleness, "`duration` since its newest proof for which an informer is fresh; below the default, it costs requests"},
		{"freshness-fail-after", &o.Freshness.FailAfter, freshness.DefaultFailAfter, "`duration` for which an informer has to be stalled, though every cure was tried, until liveness fails"},
		{"freshness-sync-timeout", &o.Freshness.SyncTimeout, freshness.DefaultSyncTimeout, "`duration` that a stream of initial objects may take until the informer lists instead"},
		{"freshness-audit-interval", &o.Freshness.Audit.Every, freshness.DefaultAuditEvery, "`duration` between two comparisons of an informer's contents with the API server's"},

		{"watch-canary-interval", &o.Canary.Interval, watchcanary.DefaultInterval, "`duration` between two writes of the canary's Lease"},
		{"watch-canary-fail-after", &o.Canary.FailAfter, watchcanary.DefaultFailAfter, "`duration` for which a write may go unseen until liveness fails; 3 intervals where that is more"},

		{"reconcile-timeout", &o.Reconcile.Default.Timeout, reconcile.DefaultTimeout, "`duration` of a reconcile until its context ends; the manager's ReconciliationTimeout where that is set"},
		{"reconcile-fail-after", &o.Reconcile.Default.FailAfter, reconcile.DefaultFailAfter, "`duration` for which a reconcile that ignores the end of its context is only reported, until liveness fails"},
	} {
		fs.Var(&durationValue{f.value, f.def}, f.name, f.usage)
	}
	fs.StringVar(&o.Canary.Namespace, "watch-canary-namespace", o.Canary.Namespace,
		"`namespace` of the canary's Lease, on which restarts are noted, too (default that of leader election, or the pod's)")
	fs.StringVar(&o.Canary.Name, "watch-canary-name", o.Canary.Name,
		"`name` of that Lease (default the ID of leader election and -canary, or "+watchcanary.DefaultName+")")
	fs.Var(exitValue(o), "exit-on-unauthorized",
		"exit when the API server has refused the credential for 90s, with a diagnosis")
	for _, f := range []struct {
		name  string
		off   *bool
		usage string
	}{
		{"connection-guard", &o.Disable.Transport, "guard connections and watches"},
		{"freshness-monitor", &o.Disable.Freshness, "prove each informer fresh, and heal it"},
		{"watch-canary", &o.Disable.Canary, "as the leader, write a Lease that has to come back"},
		{"reconcile-deadlines", &o.Disable.Reconcile, "give each reconcile a deadline"},
		{"flight-recorder", &o.Disable.FlightRecorder, "remember what happened to informers and connections"},
		{"freshness-page", &o.Disable.DebugPage, "serve a page of that beside the metrics"},
		{"freshness-events", &o.Disable.Events, "write Kubernetes Events about it"},
	} {
		fs.Var(partValue(f.off), f.name, f.usage)
	}
}
