// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"io"
	"net/http"
	"net/url"
	"time"
)

// confirmTimeout is how long the API server may take to speak for itself, and how
// long it is not asked again.
const confirmTimeout = 10 * time.Second

// confirmation is a question to the API server itself: does it refuse a
// credential that something at its address refuses? It holds the credential, and
// lives no longer than the question.
type confirmation struct {
	next    http.RoundTripper // below ours, so that the answer is no news to it
	request *http.Request
}

// confirmationOf asks about the credential of a request to the credential's own
// host. GET /api is answered by kube-apiserver and nothing behind it, and may be
// asked by everyone.
func (c *credential) confirmationOf(req *http.Request, next http.RoundTripper) confirmation {
	header := http.Header{}
	if value := req.Header.Get("Authorization"); value != "" { // else it is a certificate
		header.Set("Authorization", value)
	}
	return confirmation{next: next, request: &http.Request{
		Method: http.MethodGet,
		URL:    &url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: c.prefix + "/api"},
		Header: header,
	}}
}

// ask returns the status of the answer. It takes no longer than confirmTimeout,
// even if the transport is deaf to contexts.
func (c confirmation) ask() (int, error) {
	answer := make(chan int, 1)
	err := runWithin(confirmTimeout, func() error {
		status, err := c.send()
		answer <- status
		return err
	})
	if err != nil {
		return 0, err
	}
	return <-answer, nil
}

func (c confirmation) send() (int, error) {
	client := http.Client{
		Transport:     c.next,
		Timeout:       confirmTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(c.request)
	if err != nil {
		return 0, err
	}
	// Read to its end, so that the connection can be used again. The status says it
	// all: what goes wrong after it does not matter.
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	_ = resp.Body.Close()
	return resp.StatusCode, nil
}
