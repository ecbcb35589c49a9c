// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
)

// fakeEtcd speaks as much of etcd's gRPC as a proxy has to understand: the Watch method, with responses sent by the test,
// and one other that echoes.
type fakeEtcd struct {
	url   string
	calls chan *fakeCall
}

// fakeCall is a Watch call as the server sees it.
type fakeCall struct {
	out  chan []byte
	end  chan struct{}
	gone <-chan struct{}
}

func newFakeEtcd(t *testing.T) *fakeEtcd {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeEtcd{url: "http://" + ln.Addr().String(), calls: make(chan *fakeCall, 16)}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	srv := &http.Server{Handler: http.HandlerFunc(f.serve), Protocols: protocols}
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(func() { _ = srv.Close() })
	return f
}

func (f *fakeEtcd) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/etcdserverpb.Watch/Watch" {
		w.Header().Set("Trailer", "Grpc-Status")
		_, _ = io.Copy(w, r.Body)
		w.Header().Set("Grpc-Status", "0")
		return
	}
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status")
	c := &fakeCall{out: make(chan []byte), end: make(chan struct{}), gone: r.Context().Done()}
	created := make(chan struct{}, 16)
	go func() { // every request is for one more watch, and they are numbered from 0
		for {
			if _, err := readGRPC(r.Body); err != nil {
				return
			}
			created <- struct{}{}
		}
	}()
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	f.calls <- c
	var next int64
	for {
		var message []byte
		select {
		case <-created:
			message = response{id: next, created: true}.encode()
			next++
		case message = <-c.out:
		case <-c.end:
			w.Header().Set("Grpc-Status", "0")
			return
		case <-c.gone:
			return
		}
		_, _ = w.Write(message)
		w.(http.Flusher).Flush()
	}
}

// send sends responses to the client.
func (c *fakeCall) send(t *testing.T, responses ...response) {
	t.Helper()
	for _, r := range responses {
		select {
		case c.out <- r.encode():
		case <-patient(t).Done():
			t.Fatal("the server could not send a response")
		}
	}
}

// response is a WatchResponse.
type response struct {
	id, revision      int64
	created, canceled bool
	keys              string // of the events, one letter each, behind the prefix /registry/
}

func varintField(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

func bytesField(b []byte, num protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
}

func grpcMessage(payload []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(payload))), payload...)
}

func (r response) encode() []byte {
	payload := bytesField(nil, 1, varintField(nil, 3, uint64(r.revision)))
	payload = varintField(payload, 2, uint64(r.id))
	if r.created {
		payload = varintField(payload, 3, 1)
	}
	if r.canceled {
		payload = varintField(payload, 4, 1)
	}
	for _, key := range r.keys {
		payload = bytesField(payload, 11, bytesField(nil, 2, bytesField(nil, 1, []byte("/registry/"+string(key)))))
	}
	return grpcMessage(payload)
}

func decodeResponse(message []byte) (r response) {
	fields(message[5:], func(num protowire.Number, value []byte, varint uint64) {
		switch num {
		case 1:
			fields(value, func(num protowire.Number, _ []byte, v uint64) {
				if num == 3 {
					r.revision = int64(v)
				}
			})
		case 2:
			r.id = int64(varint)
		case 3:
			r.created = varint == 1
		case 4:
			r.canceled = varint == 1
		case 11:
			r.keys += string(value[len(value)-1]) // the key's last letter is the last byte of the event
		default: // nothing the tests send
		}
	})
	return r
}

func fields(message []byte, f func(num protowire.Number, value []byte, varint uint64)) {
	for len(message) > 0 {
		num, typ, n := protowire.ConsumeTag(message)
		message = message[n:]
		size := protowire.ConsumeFieldValue(num, typ, message)
		value, _ := protowire.ConsumeBytes(message)
		varint, _ := protowire.ConsumeVarint(message)
		f(num, value, varint)
		message = message[size:]
	}
}

func readGRPC(r io.Reader) ([]byte, error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	payload := make([]byte, binary.BigEndian.Uint32(head[1:]))
	_, err := io.ReadFull(r, payload)
	return slices.Concat(head, payload), err
}

// etcdClient is one Watch call as the API server's etcd client sees it.
type etcdClient struct {
	requests  *io.PipeWriter
	resp      *http.Response
	responses chan response
	end       chan struct{}
	err       error
}

func newEtcd(t *testing.T, target string) *faultproxy.Etcd {
	t.Helper()
	p, err := faultproxy.NewEtcd(target, faultproxy.EtcdOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return p
}

func newH2C(t *testing.T) *http.Transport {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	tr := &http.Transport{Protocols: protocols}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// watchEtcd opens a Watch call with a watch on each of these keys; their IDs are 0 and so on.
func watchEtcd(t *testing.T, p *faultproxy.Etcd, keys ...string) *etcdClient {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	body, requests := io.Pipe()
	t.Cleanup(func() { _ = requests.Close() })
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL()+"/etcdserverpb.Watch/Watch", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/grpc")
	resp, err := newH2C(t).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	c := &etcdClient{requests: requests, resp: resp, responses: make(chan response), end: make(chan struct{})}
	go c.receive(ctx)
	for i, key := range keys {
		c.create(t, key)
		if got := c.next(t); !got.created || got.id != int64(i) {
			t.Fatalf("response %+v, want that watch %d was created", got, i)
		}
	}
	return c
}

func (c *etcdClient) create(t *testing.T, key string) {
	t.Helper()
	request := bytesField(nil, 1, bytesField(nil, 1, []byte(key)))
	if _, err := c.requests.Write(grpcMessage(request)); err != nil {
		t.Fatal(err)
	}
}

func (c *etcdClient) receive(ctx context.Context) {
	defer close(c.end)
	defer c.resp.Body.Close()
	for {
		message, err := readGRPC(c.resp.Body)
		if err != nil {
			c.err = err
			return
		}
		select {
		case c.responses <- decodeResponse(message):
		case <-ctx.Done():
			return
		}
	}
}

func (c *etcdClient) next(t *testing.T) response {
	t.Helper()
	select {
	case r := <-c.responses:
		return r
	case <-c.end:
		t.Fatalf("the call has ended: %v", c.err)
	case <-patient(t).Done():
		t.Fatal("no response")
	}
	return response{}
}

// status waits for the end of the call and returns its gRPC status.
func (c *etcdClient) status(t *testing.T) string {
	t.Helper()
	select {
	case r := <-c.responses:
		t.Fatalf("response %+v, want the end", r)
	case <-c.end:
	case <-patient(t).Done():
		t.Fatal("the call has not ended")
	}
	return c.resp.Trailer.Get("Grpc-Status")
}
