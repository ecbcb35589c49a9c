// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
)

// jwt makes a token of claims, with a signature that nobody would accept.
func jwt(claims string) string {
	return encode(`{"alg":"none"}`) + "." + encode(claims) + "." + encode("signature-of-a-test")
}

func encode(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

func longText(n int) string { return strings.Repeat("x", n) }

// stage is where an exit is rehearsed.
type stage struct {
	t    *testing.T
	opts ExitOptions

	mu    sync.Mutex
	lines []string
	said  []string // by hook and exit, in order
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, opts: ExitOptions{TerminationLog: filepath.Join(t.TempDir(), "termination-log")}}
	s.opts.Exit = func(code int) { s.say(fmt.Sprintf("exit %d", code)) }
	return s
}

func (s *stage) say(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, what)
}

func (s *stage) logger() logr.Logger {
	return funcr.New(func(_, args string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lines = append(s.lines, args)
	}, funcr.Options{})
}

// rehearse runs the procedure to its end, and returns how long it took.
func (s *stage) rehearse(u Unauthorized) time.Duration {
	s.t.Helper()
	began := time.Now()
	(&exitProcedure{opts: s.opts, log: s.logger()}).run(u)
	return time.Since(began)
}

func (s *stage) wantSaid(want ...string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if diff := cmp.Diff(want, s.said); diff != "" {
		s.t.Errorf("said (-want +got):\n%s", diff)
	}
}

// wantLines checks that there is one line for each text, which it holds.
func (s *stage) wantLines(want ...string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lines) != len(want) {
		s.t.Fatalf("%d lines, want %d: %q", len(s.lines), len(want), s.lines)
	}
	for i, line := range s.lines {
		if !strings.Contains(line, want[i]) {
			s.t.Errorf("line %d is %q, want %q in it", i, line, want[i])
		}
	}
}

const exiting = "Exiting, because of a dead credential"

var someCause = Unauthorized{
	Since: dawn, Until: dawn.Add(92 * time.Second), Responses: 5, FreshConnections: 2,
	Subject: "system:serviceaccount:models:operator", source: fromTokenFile,
}

type recorderFunc func(io.Writer) (int64, error)

func (f recorderFunc) WriteTo(w io.Writer) (int64, error) { return f(w) }

func TestExitProcedure(t *testing.T) {
	s := newStage(t)
	s.opts.BeforeExit = func(u Unauthorized) { s.say("hook: " + u.Subject) }
	s.opts.FlightRecorder = recorderFunc(func(w io.Writer) (int64, error) {
		s.say("recorder")
		n, err := io.WriteString(w, "12:00 watch pods\n")
		return int64(n), err
	})
	s.rehearse(someCause)
	s.wantSaid("recorder", "hook: system:serviceaccount:models:operator", "exit 1")
	s.wantLines(exiting, "12:00 watch pods")
	if got, want := s.terminationMessage(), someCause.Message(); got != want {
		t.Errorf("termination message %q, want %q", got, want)
	}
}

func (s *stage) terminationMessage() string {
	s.t.Helper()
	got, err := os.ReadFile(s.opts.TerminationLog)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(got)
}

// Nothing that goes wrong on the way keeps the process alive.
func TestExitProcedureSurvives(t *testing.T) {
	tests := []struct {
		name  string
		set   func(s *stage, hang func())
		said  []string
		lines []string
		took  time.Duration
	}{
		{"hook that hangs", func(s *stage, hang func()) { s.opts.BeforeExit = func(Unauthorized) { hang() } },
			[]string{"exit 1"}, []string{exiting, "it did not return within 5s"}, stepTimeout},
		{"hook that takes its time", func(s *stage, _ func()) {
			s.opts.BeforeExit = func(Unauthorized) { time.Sleep(stepTimeout - 1); s.say("flushed") }
		}, []string{"flushed", "exit 1"}, []string{exiting}, stepTimeout - 1},
		{"hook that panics", func(s *stage, _ func()) { s.opts.BeforeExit = func(Unauthorized) { panic("oh") } },
			[]string{"exit 1"}, []string{exiting, "it panicked: oh"}, 0},
		{"hook that ends its goroutine", func(s *stage, _ func()) { s.opts.BeforeExit = func(Unauthorized) { runtime.Goexit() } },
			[]string{"exit 1"}, []string{exiting, "it called runtime.Goexit"}, 0},
		{"recorder that hangs", func(s *stage, hang func()) {
			s.opts.FlightRecorder = recorderFunc(func(io.Writer) (int64, error) { hang(); return 0, nil })
		}, []string{"exit 1"}, []string{exiting, "it did not return within 5s"}, stepTimeout},
		{"recorder that panics", func(s *stage, _ func()) {
			s.opts.FlightRecorder = recorderFunc(func(io.Writer) (int64, error) { panic("oh") })
			s.opts.BeforeExit = func(Unauthorized) { s.say("hook") }
		}, []string{"hook", "exit 1"}, []string{exiting, "it panicked: oh"}, 0},
		{"recorder that fails half way", func(s *stage, _ func()) {
			s.opts.FlightRecorder = recorderFunc(func(w io.Writer) (int64, error) {
				n, err := io.WriteString(w, "half")
				return int64(n), errors.Join(err, errors.New("disk full"))
			})
		}, []string{"exit 1"}, []string{exiting, "half", "disk full"}, 0},
		{"recorder that is a nil pointer", func(s *stage, _ func()) { s.opts.FlightRecorder = (*strings.Reader)(nil) },
			[]string{"exit 1"}, []string{exiting, "it panicked: runtime error"}, 0},
		{"termination log in no directory", func(s *stage, _ func()) { s.opts.TerminationLog += "/none/log" },
			[]string{"exit 1"}, []string{exiting, "no such file or directory"}, 0},
		{"termination log that is a directory", func(s *stage, _ func()) { s.opts.TerminationLog = filepath.Dir(s.opts.TerminationLog) },
			[]string{"exit 1"}, []string{exiting, "is a directory"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, release := newStage(t), make(chan struct{})
				defer close(release)
				tt.set(s, func() { <-release })
				if took := s.rehearse(someCause); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				s.wantSaid(tt.said...)
				s.wantLines(tt.lines...)
			})
		})
	}
}

// A log sink can hang as well, in each of its lines.
func TestExitProcedureSurvivesItsLog(t *testing.T) {
	for _, tt := range []struct {
		name string
		sink func(release <-chan struct{})
		took time.Duration
	}{
		{"hangs", func(release <-chan struct{}) { <-release }, 2 * stepTimeout},
		{"panics", func(<-chan struct{}) { panic("oh") }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, release := newStage(t), make(chan struct{})
				defer close(release)
				began := time.Now()
				(&exitProcedure{opts: s.opts, log: funcr.New(func(string, string) { tt.sink(release) }, funcr.Options{})}).run(someCause)
				if took := time.Since(began); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				s.wantSaid("exit 1")
				if got, want := s.terminationMessage(), someCause.Message(); got != want {
					t.Errorf("termination message %q, want %q", got, want)
				}
			})
		})
	}
}

// RoundTrip goes on while the exit is under way, and no second one begins.
func TestExitBlocksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := newStage(t), make(chan struct{})
		s.opts.Immediate = true
		s.opts.BeforeExit = func(Unauthorized) { s.say("hook"); <-release }
		u, err := newUnauthorized(&rest.Config{Host: testAPI, BearerToken: "mine"}, &s.opts, clocktesting.NewFakePassiveClock(dawn), s.logger())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 3 {
			u.observe(newTestRequest(t, testAPI, "mine"), http.StatusUnauthorized, time.Time{}, nil)
		}
		synctest.Wait()
		s.wantSaid("hook")
		if took := time.Since(began); took != 0 {
			t.Errorf("three answers took %v, want no time", took)
		}
		u.shutdown() // which the hook may have brought about: the exit goes on
		close(release)
		synctest.Wait()
		u.observe(newTestRequest(t, testAPI, "mine"), http.StatusUnauthorized, time.Time{}, nil)
		time.Sleep(time.Hour)
		s.wantSaid("hook", "exit 1")
	})
}

func TestTerminationLogIsReplaced(t *testing.T) {
	s := newStage(t)
	if err := os.WriteFile(s.opts.TerminationLog, []byte(longText(9000)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.rehearse(someCause)
	if got, want := s.terminationMessage(), someCause.Message(); got != want {
		t.Errorf("termination message %q, want %q", got, want)
	}
}

// Outside of a container the default file does not exist, and is not made. Inside
// of one it belongs to the container, and is not touched here.
func TestDefaultTerminationLogIsNotMade(t *testing.T) {
	_, err := os.Stat(DefaultTerminationLog)
	if inContainer := err == nil; inContainer {
		t.Skipf("%s exists", DefaultTerminationLog)
	}
	s := newStage(t)
	s.opts.TerminationLog = DefaultTerminationLog
	s.rehearse(someCause)
	s.wantSaid("exit 1")
	s.wantLines(exiting)
	if os.Remove(DefaultTerminationLog) == nil {
		t.Errorf("%s was made", DefaultTerminationLog)
	}
}

func TestTerminationLogIsCut(t *testing.T) {
	s := newStage(t)
	cause := someCause
	cause.Subject = "system:serviceaccount:" + strings.Repeat("ü", 3000)
	s.rehearse(cause)
	got := s.terminationMessage()
	if len(got) < terminationLimit-1 || len(got) > terminationLimit || !utf8.ValidString(got) || !strings.HasPrefix(cause.Message(), got) {
		t.Errorf("termination message has %d bytes, valid %v, want the first %d or, not to cut a rune, one less", len(got), utf8.ValidString(got), terminationLimit)
	}
}

func TestCutAtRune(t *testing.T) {
	for _, tt := range []struct {
		s     string
		limit int
		want  string
	}{
		{"", 0, ""}, {"ab", 2, "ab"}, {"abc", 2, "ab"}, {"aü", 3, "aü"}, {"aü", 2, "a"}, {"ü", 1, ""}, {"€€", 5, "€"}, {"\x80\x80\x80", 2, ""},
	} {
		if got := cutAtRune(tt.s, tt.limit); got != tt.want {
			t.Errorf("cutAtRune(%q, %d) = %q, want %q", tt.s, tt.limit, got, tt.want)
		}
	}
}

func TestRecorderIsBounded(t *testing.T) {
	s := newStage(t)
	s.opts.FlightRecorder = recorderFunc(func(w io.Writer) (n int64, err error) {
		for i := range 100_000 {
			m, err := fmt.Fprintf(w, "event %d\n", i)
			if n += int64(m); err != nil {
				return n, err
			}
		}
		return n, nil
	})
	s.rehearse(someCause)
	s.wantLines(exiting, "event 99999")
	if got := len(s.lines[1]); got > recorderLimit+recorderLimit/4 { // quotes and escapes included
		t.Errorf("%d bytes logged, want about %d", got, recorderLimit)
	}
	if strings.Contains(s.lines[1], "event 0\n") {
		t.Error("the beginning is logged, want the end")
	}
}

func TestTail(t *testing.T) {
	for _, tt := range []struct {
		name    string
		writes  []string
		want    string
		omitted int64
	}{
		{"nothing", nil, "", 0},
		{"less", []string{"ab", "c"}, "abc", 0},
		{"as much", []string{"ab", "cd"}, "abcd", 0},
		{"more", []string{"ab", "cd", "e"}, "bcde", 1},
		{"much more at once", []string{"x", "abcdefghijkl"}, "ijkl", 9},
		{"piece by piece", strings.Split("abcdefghijklmnopqrstuvwxyz", ""), "wxyz", 22},
		{"part of a rune", []string{"üabc"}, "abc", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := tail{limit: 4}
			for _, s := range tt.writes {
				if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
					t.Errorf("Write(%q) = %d, %v", s, n, err)
				}
				if len(w.kept) > 2*w.limit {
					t.Errorf("keeps %d bytes", len(w.kept))
				}
			}
			if got := w.String(); got != tt.want || w.omitted() != tt.omitted {
				t.Errorf("got %q after %d, want %q after %d", got, w.omitted(), tt.want, tt.omitted)
			}
		})
	}
}
