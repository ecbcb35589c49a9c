// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshclient

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// unreachable tells whether an error says nothing about the object: the API
// server did not answer, or not the question.
func unreachable(err error) bool {
	var answered apierrors.APIStatus
	return !errors.As(err, &answered) || apierrors.IsInternalError(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err)
}
