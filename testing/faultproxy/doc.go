// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package faultproxy makes real faults, on command, between a Kubernetes client and its API server, and between the API
// server and etcd.
//
// There are three proxies. Each listens on a free port of 127.0.0.1, counts what passes, and has faults injected and lifted
// at run time from Go; every injection and every lift is on its record with its time.
//
//   - [TCP] forwards bytes of any protocol and knows nothing of them.
//   - [API] ends TLS and HTTP/2 or HTTP/1.1, like a service mesh or an application load balancer. Its faults are aimed at
//     requests, by verb, resource, namespace, user agent and more.
//   - [Etcd] reads etcd's gRPC. It lets reads and writes pass and freezes, delays or thins out watches.
//
// They compose by address. A TCP proxy in front of an API server (rest.Config.Host, with TLS ServerName as it was) is a
// load balancer on the transport layer; one behind an API proxy (APIOptions.Via) is a proxy that answers PINGs while the
// way to its backend is dead.
//
// # Faults
//
// On the transport layer, methods of TCP:
//
//	Blackhole        swallows bytes, no FIN, no RST: a half-open connection, a dead link, a network policy
//	Reset            RST: a crashed peer, a firewall that answers
//	IdleDrop         forgets idle connections: the load balancers of clouds (Azure: after 240 s)
//	Delay            adds latency
//	Bandwidth        makes the line thin
//	AcceptSilently   accepts and never answers: a server that hangs, a load balancer without backends
//	Refuse           connection refused: a server that is down
//
// Between client and API server, values for API.Inject:
//
//	Silence                    one dead stream, or all: nothing arrives, nothing ends, PINGs are answered
//	HoldHeaders                a response that does not begin; or only with the first event, as buffering proxies do
//	HangList                   a list that is accepted and never answered
//	HoldOpen                   a stream past its timeout, in silence; or a server that ignores the timeout
//	WithholdBookmarks          a server or proxy that sends no bookmarks
//	WithholdInitialEventsEnd   a WatchList that never ends
//	DropEvents                 lost events, while the resourceVersion moves on
//	ErrorEvent                 410 inside of a stream: the history is gone
//	Status                     401, 403, 404, 410, 429, 500, 503, the next few or for a while
//	GoAway                     a graceful end of the connection, as with --goaway-chance
//	Truncate                   a response that ends in the middle, or with its connection
//	CutStreamEvery             the route timeout of a proxy: all streams have the same life
//	Trickle, Delay             a slow server
//
// Between API server and etcd, methods of Etcd:
//
//	FreezeWatches    the watch cache freezes while reads and writes work; lifted, as after a restart of the datastore
//	HoldWatches      the same; lifted, what was withheld arrives
//	DropEvents       the watch cache misses events and moves on
//	Delay            a watch cache that lags behind
//
// # Limits
//
// Everything is on the loopback interface. The kernels of both sides acknowledge what they receive even where a TCP proxy
// has made a black hole, until their buffers are full: a TCP_USER_TIMEOUT notices nothing before that, and neither do TCP
// keep-alive probes.
//
// The API proxy passes the caller's Authorization header on, and no client certificates. It asks for no compression and no
// CBOR, because it could not read them. It reads watch streams in JSON and protobuf event by event, and delivers an event
// when it is complete, unchanged. Streams in other formats are passed on and counted in bytes; event faults do not act on
// them. Upgrades (exec, attach, port-forward) are not supported. Towards the API server it sends no PINGs of its own.
//
// Memory is bounded: 4096 entries of the record, APIOptions.RequestLimit requests and 10,000 series of counters; for each
// stream, 64 events on their way. Etcd.HoldWatches is the exception.
package faultproxy
