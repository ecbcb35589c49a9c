// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/freshwatch/freshwatch/testing/faultproxy"
	"github.com/freshwatch/freshwatch/testing/internal/poll"
	"github.com/freshwatch/freshwatch/testing/internal/realplane"
)

const (
	recordVariable = "FRESHWATCH_RECORD"
	recordFile     = "recorded_test.yaml"
	recordEvery    = 15 * time.Second
	recordFor      = 27 * time.Minute
)

// story is what happens to one program while it is recorded, and the alerts that have to
// tell of it: these and no others.
type story struct {
	job, about string
	spec       spec
	pods       int
	play       func(r *recording, pr *program)
	alerts     []string // with their severity
}

// recording is one that goes on.
type recording struct {
	t     *testing.T
	plane *realplane.Plane
	begin time.Time

	mu       sync.Mutex // of what follows
	server   *server
	programs []*program
}

// until waits until so many minutes have passed, and tells whether the test still goes on.
func (r *recording) until(minutes float64) bool {
	poll.Until(r.t.Context(), time.Until(r.begin.Add(time.Duration(minutes*float64(time.Minute)))), func() bool { return false })
	return r.t.Context().Err() == nil
}

// start has a program get one more pod.
func (r *recording) start(pr *program) *pod {
	p := pr.start(r.t)
	r.rescrape()
	return p
}

// stop takes a pod away, as a rollout does.
func (r *recording) stop(p *pod) {
	p.delete()
	r.rescrape()
}

func (r *recording) rescrape() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.server.scrape(r.t, r.programs...)
}

// during injects a fault between two moments.
func (r *recording) during(from, to float64, inject func() *faultproxy.Injection) {
	r.until(from)
	fault := inject()
	r.until(to)
	fault.Lift()
}

func stories() []story {
	return []story{
		{
			job: "steady", about: "nothing happens but a rollout of both replicas in minutes 8 to 10", pods: 2,
			play: func(r *recording, pr *program) {
				for n, minutes := range []float64{8, 9} {
					r.until(minutes)
					r.start(pr)
					r.until(minutes + 0.75)
					r.stop(pr.pods[n])
				}
			},
		},
		{
			job: "healed", about: "one watch falls silent in minute 4, and its resume heals it", pods: 1,
			play: func(r *recording, pr *program) {
				r.during(4, 6, func() *faultproxy.Injection { return pr.silence(true) })
			},
		},
		{
			job: "often", about: "one watch falls silent every four minutes from minute 3 on, and its resume heals it, in fewer than four spans of five minutes", pods: 1,
			play: func(r *recording, pr *program) {
				for minutes := 3.0; minutes < 20; minutes += 4 {
					r.during(minutes, minutes+2, func() *faultproxy.Injection { return pr.silence(true) })
				}
			},
		},
		{
			job: "polling", about: "every watch of a kind is silent from minute 3 to 21, new ones too, while lists work", pods: 1,
			play: func(r *recording, pr *program) {
				r.during(3, 21, func() *faultproxy.Injection { return pr.silence(false) })
			},
			alerts: []string{"FreshwatchInformerListsOnly page", "FreshwatchReconcileGateClosed page"},
		},
		{
			job: "frozen", about: "the datastore's watch of a kind is dead from minute 6 to 17", pods: 2, spec: spec{Templates: true},
			play: func(r *recording, _ *program) {
				r.during(6, 17, func() *faultproxy.Injection { return r.plane.Etcd.FreezeWatches("/registry/podtemplates/") })
			},
			alerts: []string{"FreshwatchInformerControlPlaneStalled page"},
		},
		{
			job: "blocked", about: "a transform hangs at an object from minute 3 on, in each process anew", pods: 1, spec: spec{Blocks: true},
			play: func(r *recording, pr *program) {
				if r.until(3) {
					pr.create(r.t, stuck)
				}
			},
			alerts: []string{"FreshwatchInformerStalled page", "FreshwatchInformerUnproven warning"},
		},
		{
			job: "refused", about: "its ServiceAccount is deleted in minute 3, and restarts bring the dead token again", pods: 1, spec: spec{Alone: true},
			play: func(r *recording, pr *program) {
				if !r.until(3) {
					return
				}
				if err := r.plane.Typed.CoreV1().ServiceAccounts(pr.ns).Delete(r.t.Context(), account, metav1.DeleteOptions{}); err != nil {
					r.t.Error(err)
				}
			},
			alerts: []string{"FreshwatchTransportUnauthorized page"},
		},
		{
			job: "unended", about: "from minute 3 on the way does not tell when the API server has ended a watch", pods: 1,
			play: func(r *recording, pr *program) {
				r.during(3, recordFor.Minutes(), func() *faultproxy.Injection {
					return pr.api.Inject(faultproxy.Match{Verb: "watch"}, faultproxy.HoldOpen{})
				})
			},
			alerts: []string{"FreshwatchTransportStreamsCut warning"},
		},
	}
}

// TestRecord writes what Prometheus scrapes while all the stories are played at once.
func TestRecord(t *testing.T) {
	if os.Getenv(recordVariable) == "" {
		t.Skipf("takes %v, and is what make record runs: it sets %s", recordFor, recordVariable)
	}
	r := &recording{t: t, plane: startPlane(t), server: startServer(t, recordEvery, nil)}
	all := stories()
	for _, s := range all {
		pr := newProgram(t, r.plane, s.job, s.spec)
		for range s.pods {
			pr.start(t)
		}
		r.programs = append(r.programs, pr)
	}
	r.rescrape()
	r.begin = time.Now()
	var wg sync.WaitGroup
	defer wg.Wait()
	for i, s := range all {
		pr := r.programs[i]
		wg.Go(func() { s.play(r, pr) })
		wg.Go(func() { r.edit(pr) })
	}
	if !r.until(recordFor.Minutes()) {
		return
	}
	for _, pr := range r.programs {
		for _, p := range pr.pods {
			t.Logf("%s was restarted %d times", p.spec.Name, p.restarts())
		}
	}
	path := filepath.Join("..", "..", "alerts", recordFile)
	text := r.server.promtoolTest(t, r.begin, time.Now(), all)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// edit edits the program's objects now and then, which leaves minutes in which nothing
// happens.
func (r *recording) edit(pr *program) {
	ctx := r.t.Context()
	for n, minutes := 0, 1.0; minutes < recordFor.Minutes()-0.5; n, minutes = n+1, minutes+2.5 {
		if !r.until(minutes) {
			return
		}
		if err := pr.edit(ctx, n); err != nil && ctx.Err() == nil {
			r.t.Errorf("%s: %v", pr.job, err)
		}
	}
}
