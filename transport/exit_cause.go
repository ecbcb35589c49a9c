// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Unauthorized says what led to an exit. It holds no token.
type Unauthorized struct {
	// Since is when the first 401 came after the last success, Until when the last
	// one came.
	Since, Until time.Time
	// Responses is how many 401s there were from Since to Until.
	Responses int
	// FreshConnections is how many of the connections opened after Since brought a
	// 401. None, if ExitOptions.Immediate led to the exit.
	FreshConnections int
	// Subject is whose the credential is: what the token says of itself, such as
	// system:serviceaccount:namespace:name, or the common name of the client
	// certificate. Nobody has verified it. Empty if it is not known.
	Subject string
	// Expires is when the token or certificate expires, by its own word. Zero if it
	// is not known.
	Expires time.Time

	source credentialSource
	plugin string
}

// String returns what happened, in one sentence.
func (u Unauthorized) String() string {
	s := fmt.Sprintf("The API server refuses this process's credential: %s of 401 Unauthorized and no success since %s",
		count(u.Responses, "answer"), u.Since.UTC().Format(time.RFC3339))
	if d := u.Until.Sub(u.Since); d > 0 {
		s += " (for " + duration.HumanDuration(d) + ")"
	}
	if u.FreshConnections > 0 {
		s += ", over " + count(u.FreshConnections, "new connection") + " too"
	}
	return s + "."
}

// Message returns what happened, whose credential it was, and what heals it, for
// somebody who reads `kubectl describe pod`.
func (u Unauthorized) Message() string {
	parts := []string{u.String()}
	if whose := u.credential(); whose != "" {
		parts = append(parts, "The credential is "+whose+".")
	}
	return strings.Join(append(parts, u.cure()), " ")
}

// credential describes the credential without showing any of it.
func (u Unauthorized) credential() string {
	s := map[credentialSource]string{
		fromTokenFile:   "a token from a file",
		fromConfig:      "a token in the program's configuration",
		fromPassword:    "a user name with a password",
		fromCertificate: "a client certificate",
		fromPlugin:      "what the exec plugin " + u.plugin + " returns",
		fromProvider:    "a token that the program's own code provides",
	}[u.source]
	if s == "" {
		return ""
	}
	if u.Subject != "" {
		s += ", of " + u.Subject
	}
	switch {
	case u.Expires.IsZero():
		return s
	case u.expired():
		return s + ", expired " + duration.HumanDuration(u.Until.Sub(u.Expires)) + " ago"
	default:
		return s + ", valid until " + u.Expires.UTC().Format(time.RFC3339)
	}
}

// cure says what heals, which is rarely a restart alone.
func (u Unauthorized) cure() string {
	switch u.source {
	case fromTokenFile:
		return u.cureOfTokenFile()
	case fromConfig:
		return u.cureOfToken()
	case fromCertificate:
		if u.expired() {
			return "Renew it: a running program reads certificate files again, and a restart does too."
		}
		return "The API server may have been given another CA for clients."
	case fromPlugin:
		return "client-go asks the plugin again after each 401, so that a restart alone changes nothing: check as whom the plugin logs in, and whether this cluster still knows it."
	case fromProvider:
		return "A restart makes the program ask for a new token: check where it gets its tokens from."
	case fromPassword:
		return "Check both where the API server, or the proxy before it, keeps them."
	default:
		return ""
	}
}

func (u Unauthorized) cureOfTokenFile() string {
	switch {
	case u.expired():
		return "It was not renewed in time: check the kubelet, the clock of the node, and any program that writes the file. A restarted container reads the file again."
	case u.ofServiceAccount():
		return "The ServiceAccount was probably deleted, and perhaps created again. Restarting the container does not help, because the kubelet hands out the same token from its cache until it refreshes it (at 80% of its life). Delete the Pod."
	default:
		return "It may have been revoked, or the keys of its issuer replaced. A restarted container reads the file again."
	}
}

func (u Unauthorized) cureOfToken() string {
	switch {
	case u.expired():
		return "Nothing renews a token that is given to a program in this way: restart it with a new one, and let it read the token from a file (BearerTokenFile)."
	case u.ofServiceAccount():
		return "The ServiceAccount was probably deleted, and perhaps created again: restart the program with a new token. If it takes the token from the Pod's own volume, delete the Pod: the kubelet hands the same token to a restarted container."
	default:
		return "It may have been revoked: restart the program with a new one."
	}
}

func (u Unauthorized) expired() bool { return !u.Expires.IsZero() && u.Expires.Before(u.Until) }

func (u Unauthorized) ofServiceAccount() bool {
	return strings.HasPrefix(u.Subject, "system:serviceaccount:")
}

// count returns a number with what it counts.
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
