// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"fmt"
	"os"
	"syscall"
)

// reservePort takes a free port of 127.0.0.1 and keeps it until it is released. A listener can open and close on it as often
// as it likes, since both allow the address to be reused; nobody's outgoing connection gets it in between.
func reservePort() (port int, release func() error, err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, fmt.Errorf("reserve a port: %w", os.NewSyscallError("socket", err))
	}
	release = func() error { return os.NewSyscallError("close", syscall.Close(fd)) }
	if port, err = bindLoopback(fd); err != nil {
		_ = release()
		return 0, nil, fmt.Errorf("reserve a port: %w", err)
	}
	return port, release, nil
}

// bindLoopback binds a socket to a free port of 127.0.0.1, and does not listen: the kernel refuses whoever dials it.
func bindLoopback(fd int) (int, error) {
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, os.NewSyscallError("setsockopt", err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	addr, ok := name.(*syscall.SockaddrInet4)
	if !ok {
		return 0, fmt.Errorf("bound to %T, not to an IPv4 address", name)
	}
	return addr.Port, nil
}
