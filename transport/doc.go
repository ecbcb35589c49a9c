// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

// Package transport guards the connections and streams of every client that is
// made from a rest.Config: what is dead is noticed within 15 s, or a minute and a
// half where something in between keeps up appearances, and informers go on from
// where they were instead of listing everything again.
//
// # Setup
//
//	t, err := transport.Wrap(cfg, transport.Options{})
//	mgr, err := ctrl.NewManager(cfg, ctrl.Options{})
//	err = metrics.Registry.Register(t)
//
// Wrap before anything is made from cfg. Nothing else changes for the program, and
// no environment variable is read.
//
// # What it does
//
//   - HTTP/2 PINGs with intervals of this config's own ([Options].ReadIdleTimeout,
//     PingTimeout), where client-go has them for the whole process and from the
//     environment; TCP keep-alive and user timeout for HTTP/1.1.
//   - Watches with a bound ([Options].MaxWatch), jittered, that the client enforces
//     if the server does not; a deadline on headers that never come, and one on
//     silence while a reader waits.
//   - Lists with a deadline that progress extends ([Options].ListTimeout).
//   - Ends that resume. To a reflector, "http2: client connection lost" is an error,
//     after which it lists everything again. Here every end of a watch that is not
//     the reader's own reads as the ordinary end of its timeout.
//   - A registry of open watches and connections ([Transport.Streams],
//     [Transport.EndStreams], [Transport.Connections]), a way to new connections
//     ([Transport.Recycle]), and an [Options].Observer that is told of each end.
//   - With [Options].ExitOnUnauthorized, an exit with a diagnosis once the process's
//     credential is dead, and not before.
//
// # How it works
//
// Wrap changes two fields of the config. Dial is one of this package, which calls
// what was there: it knows the connections, and gives each http.Client a transport
// of its own, since client-go shares those with equal settings only. WrapTransport
// gets a wrapper below all others, which finds net/http's transport underneath and
// sets its PINGs before the first request. Credentials, TLS and their rotation stay
// with client-go.
//
// Lists and watches are told from other requests by what kube-apiserver goes by.
// Logs, exec, port-forward and proxied requests are never touched, whatever their
// query says. One goroutine looks at the lists and watches under way once a second,
// while there are any; a stream at rest costs no goroutine and no timer, a read a
// few atomic stores. The rules are in deadline.go, as one function.
//
// # Limits
//
// A deadline is kept to a second or two. What is neither list nor watch has none:
// give it a context. On HTTP/1.1 a dead connection is found by the kernel (Linux)
// or by the deadlines on streams. A connection to a proxy that answers PINGs while
// its own far side is dead is found by those too, and a new one through it may be
// no better. Nothing here can tell a silent stream from a quiet one: that is what
// package freshness is for.
package transport
