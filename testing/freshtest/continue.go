// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package freshtest

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// continueToken is where the next page of a list begins: after a key, in the state at an RV.
type continueToken struct {
	RV    uint64
	After key
}

func encodeContinue(t continueToken) string {
	plain := strings.Join([]string{formatRV(t.RV), t.After.namespace, t.After.name}, "/")
	return base64.RawURLEncoding.EncodeToString([]byte(plain))
}

func decodeContinue(token string) (continueToken, error) {
	plain, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return continueToken{}, badContinue(err)
	}
	parts := strings.Split(string(plain), "/")
	if len(parts) != 3 {
		return continueToken{}, badContinue(fmt.Errorf("%d parts instead of 3", len(parts)))
	}
	rv, err := strconv.ParseUint(parts[0], 10, 64)
	if err != nil {
		return continueToken{}, badContinue(err)
	}
	return continueToken{RV: rv, After: key{namespace: parts[1], name: parts[2]}}, nil
}

func badContinue(err error) error {
	return apierrors.NewBadRequest(fmt.Sprintf("continue key is not valid: %v", err))
}

// parseRV reads the resourceVersion of a request; an empty one is 0.
func parseRV(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	rv, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("invalid resource version %q: %v", s, err))
	}
	return rv, nil
}
