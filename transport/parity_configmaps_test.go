// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

var configMapsResource = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// firstRV is the resourceVersion of a collection that is still empty.
const firstRV = 100

// configMaps is a collection that an informer can list and watch. Nothing but creations happens to it.
type configMaps struct {
	mu      sync.Mutex
	names   []string
	changed chan struct{} // closed by the next creation
	begun   []string      // what was asked of the server, in order
}

func newConfigMaps(names ...string) *configMaps {
	return &configMaps{names: names, changed: make(chan struct{})}
}

func (c *configMaps) create(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names = append(c.names, name)
	close(c.changed)
	c.changed = make(chan struct{})
}

// asked returns the lists and watches so far, such as "list", "initial events" and "watch from 101".
func (c *configMaps) asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.begun)
}

// serve answers lists and watches.
func (c *configMaps) serve(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	from, _ := strconv.Atoi(query.Get("resourceVersion"))
	initial := query.Get("sendInitialEvents") == "true"
	what := "list"
	switch {
	case initial:
		what, from = "initial events", 0
	case query.Get("watch") != "":
		what = fmt.Sprintf("watch from %d", from)
	}
	names, _ := c.since(0)
	c.mu.Lock()
	c.begun = append(c.begun, what)
	c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if what != "list" {
		c.watch(w, r, from, initial)
		return
	}
	var items []string
	for i, name := range names {
		items = append(items, configMapJSON(name, firstRV+1+i))
	}
	fmt.Fprintf(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%s]}`,
		firstRV+len(names), strings.Join(items, ","))
}

// since returns the names with a newer RV, and what is closed when there is another one.
func (c *configMaps) since(rv int) ([]string, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.names[min(max(rv-firstRV, 0), len(c.names)):]), c.changed
}

func (c *configMaps) watch(w http.ResponseWriter, r *http.Request, rv int, initial bool) {
	rv = max(rv, firstRV)
	send(w, "")
	for {
		names, changed := c.since(rv)
		for _, name := range names {
			rv++
			send(w, fmt.Sprintf(`{"type":"ADDED","object":%s}`+"\n", configMapJSON(name, rv)))
		}
		if initial {
			send(w, fmt.Sprintf(`{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1",`+
				`"metadata":{"resourceVersion":"%d","annotations":{%q:"true"}}}}`+"\n", rv, metav1.InitialEventsAnnotationKey))
			initial = false
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

func configMapJSON(name string, rv int) string {
	return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"default","name":%q,"resourceVersion":"%d"}}`,
		name, rv)
}

// startInformer runs an informer on ConfigMaps until the end of the test.
func startInformer(t *testing.T, cfg *rest.Config) cache.SharedIndexInformer {
	t.Helper()
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	informer := dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(configMapsResource).Informer()
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { informer.RunWithContext(ctx) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	return informer
}

// holds tells whether the informer's store has an object.
func holds(informer cache.SharedIndexInformer, name string) bool {
	_, ok, _ := informer.GetStore().GetByKey("default/" + name)
	return ok
}
