// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
)

// muteEtcd is a proxy to etcd that drops the progress notifications of watches, so
// that the API server's watch cache of a quiet kind stays behind for ever: a
// datastore that imitates etcd and does not report progress. It does so once it is
// told to: an API server may not live to see the end of its start otherwise.
type muteEtcd struct {
	muted    atomic.Bool
	listener net.Listener
	server   *http.Server
	upstream *http.Transport
}

func startMuteEtcd(target string) (*muteEtcd, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	var grpc http.Protocols
	grpc.SetUnencryptedHTTP2(true)
	m := &muteEtcd{upstream: &http.Transport{Protocols: &grpc, DisableCompression: true}}
	if m.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{
		Transport:     m.upstream,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // of streams that end
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(u) },
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		ModifyResponse: func(r *http.Response) error {
			if r.Request.URL.Path == "/etcdserverpb.Watch/Watch" {
				r.Body = &withoutProgress{ReadCloser: r.Body, muted: &m.muted}
			}
			return nil
		},
	}
	m.server = &http.Server{Handler: proxy, Protocols: &grpc}
	go func() { _ = m.server.Serve(m.listener) }() // until close
	return m, nil
}

func (m *muteEtcd) url() string { return "http://" + m.listener.Addr().String() }

func (m *muteEtcd) close() error {
	m.upstream.CloseIdleConnections()
	return m.server.Close()
}

// withoutProgress is the body of a watch without messages that report progress.
type withoutProgress struct {
	io.ReadCloser
	muted *atomic.Bool
	ready bytes.Buffer
}

// Read implements io.Reader.
func (w *withoutProgress) Read(p []byte) (int, error) {
	for w.ready.Len() == 0 {
		const prefix = 5 // gRPC: compressed or not, and the length
		header := make([]byte, prefix)
		if _, err := io.ReadFull(w.ReadCloser, header); err != nil {
			return 0, err
		}
		message := make([]byte, binary.BigEndian.Uint32(header[1:]))
		if _, err := io.ReadFull(w.ReadCloser, message); err != nil {
			return 0, err
		}
		if !w.muted.Load() || !reportsProgress(message) {
			w.ready.Write(header)
			w.ready.Write(message)
		}
	}
	return w.ready.Read(p)
}

// reportsProgress tells whether an etcd WatchResponse holds nothing but its header
// and the watch's id.
func reportsProgress(message []byte) bool {
	const header, watchID = 1, 2
	for len(message) > 0 {
		num, typ, n := protowire.ConsumeTag(message)
		if n < 0 || num != header && num != watchID {
			return false
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(num, typ, message); n < 0 {
			return false
		}
		message = message[n:]
	}
	return true
}
