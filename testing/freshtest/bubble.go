// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// PrepareBubbles makes client-go fit for the bubbles of testing/synctest, for the rest of the process. Call it once,
// before any test runs: in TestMain.
//
// Where client-go reports an error that it does not return, such as a reflector's failed LIST, it sleeps for up to a
// millisecond since the last one, whose time it keeps in a variable of the process. A bubble's time begins in the year
// 2000, so that to it the last one lies in the future, and the informer sleeps until then: for decades. (backoffError
// in k8s.io/apimachinery/pkg/util/runtime, read and seen at v0.37.2.) PrepareBubbles removes that handler from
// utilruntime.ErrorHandlers and leaves the others.
func PrepareBubbles() {
	//nolint:reassign // A variable is what apimachinery offers for choosing the handlers.
	utilruntime.ErrorHandlers = slices.DeleteFunc(slices.Clone(utilruntime.ErrorHandlers), isErrorBackoff)
}

func isErrorBackoff(handler utilruntime.ErrorHandler) bool {
	name := runtime.FuncForPC(reflect.ValueOf(handler).Pointer()).Name()
	return strings.Contains(name, "backoffError")
}

var errNotPrepared = errors.New("freshtest: client-go is not fit for a testing/synctest bubble: " +
	"call freshtest.PrepareBubbles in TestMain")

// checkBubble returns an error if this is a bubble and client-go would go to sleep in it.
func checkBubble() error {
	// Only in a bubble is it that early.
	inBubble := time.Now().Before(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	if inBubble && slices.ContainsFunc(utilruntime.ErrorHandlers, isErrorBackoff) {
		return errNotPrepared
	}
	return nil
}
