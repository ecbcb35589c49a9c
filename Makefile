# Everything a contributor or CI runs. No target needs more than Go, make, git and
# a C compiler (for the race detector); what else is needed is built from Go modules.
# Only the tests of the page need a Chromium, see "make browser".

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := help

MODULE_PATH := $(shell go list -m)
# Every directory with a go.mod, the root first. The nested ones keep what only
# builders, benchmarks and examples need out of the library's requirements.
MODULES := $(shell find . \( -name '.?*' -o -name testdata -o -name bin -o -name out \) -prune -o -name go.mod -print | xargs -n1 dirname | sort)
# A module may be nothing but a list of pinned requirements.
MODULES_WITH_CODE = $(shell for dir in $(MODULES); do [ -z "$$(go -C $$dir list ./... 2>/dev/null)" ] || echo $$dir; done)
# The tools are built outside the checkout, once per set of pins and Go version.
tools_dir = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/freshwatch/tools/$(shell go env GOVERSION)-$(shell cat $1/go.mod $1/go.sum | cksum | cut -d' ' -f1)
TOOLS_DIR := $(call tools_dir,tools)
GOLANGCI_LINT := $(TOOLS_DIR)/golangci-lint
APIDIFF := $(TOOLS_DIR)/apidiff
BENCHSTAT := $(TOOLS_DIR)/benchstat
PROMETHEUS_DIR := $(call tools_dir,tools/prometheus)
PROMTOOL := $(PROMETHEUS_DIR)/promtool

# Tests talk to real servers and processes, so a cached result proves nothing.
RACE ?= -race
# They wait more than they work, hence more packages at a time than there are processors.
TESTFLAGS ?= -count=1 -timeout=20m -p=3
OUT := out

##@ Every day

.PHONY: help
help: ## Print this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z][a-z-]*:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: test
test: controlplane alerts prometheus browser ## Run every test of every module, those on the real control plane included
	@$(MAKE) -s --keep-going $(addprefix test-in/,$(MODULES_WITH_CODE))

test-in/%:
	@echo "==> test $*"
	@cd $* && go test $(RACE) $(TESTFLAGS) ./...

.PHONY: test-short
test-short: ## Run the tests that need no control plane and take seconds
	go test -short ./...

.PHONY: demo
demo: ## Stall an informer on a real API server and watch it heal (DEMO_ARGS="-fault blackhole", "-h" for all)
	@go run ./examples/quickstart $(DEMO_ARGS)

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Check formatting, go.mod files, vet and golangci-lint in every module
	@status=0; \
	files=$$(git ls-files -co --exclude-standard '*.go' | while read -r f; do [ ! -f "$$f" ] || echo "$$f"; done | xargs gofmt -l); \
	[ -z "$$files" ] || { printf 'gofmt would change:\n%s\n' "$$files"; status=1; }; \
	for dir in $(MODULES); do \
	  echo "==> tidy $$dir"; \
	  (cd $$dir && go mod tidy -diff) || status=1; \
	done; \
	for dir in $(MODULES_WITH_CODE); do \
	  echo "==> lint $$dir"; \
	  (cd $$dir && go vet ./... && $(GOLANGCI_LINT) run ./...) || status=1; \
	done; exit $$status

.PHONY: alerts
alerts: $(PROMTOOL) ## Check the alert rules, and run their unit tests
	@$(PROMTOOL) check rules --lint=all --lint-fatal alerts/*.rules.yaml
	@$(PROMTOOL) test rules alerts/*_test.yaml

.PHONY: prometheus
prometheus: $(PROMTOOL) ## Build Prometheus, and say where it is
	@echo $(PROMETHEUS_DIR)

.PHONY: controlplane
controlplane: ## Find or build etcd and kube-apiserver (the first build takes about a quarter of an hour)
	@go run ./testing/controlplane/cmd/controlplane build

.PHONY: browser
browser: ## Find a Chromium for the tests of the page, or install Debian's
	@testing/page/chromium.sh install

##@ Now and then

.PHONY: bench
bench: controlplane ## Run the benchmarks (BENCH=regexp, COUNT=6) and summarise them with benchstat
	@$(MAKE) -s $(BENCHSTAT)
	@mkdir -p $(OUT)
	go test -run='^$$' -bench='$(or $(BENCH),.)' -benchmem -count=$(or $(COUNT),6) ./... | tee $(OUT)/bench.txt
	@$(BENCHSTAT) $(OUT)/bench.txt

.PHONY: cost
cost: controlplane ## Measure what a monitor of 1,000 informers costs (COST_ARGS="-limits off,20/30,5/10", "-h" for all)
	@go run ./testing/cost $(COST_ARGS)

.PHONY: faults
faults: controlplane ## Make every fault on a real API server, guarded beside stock (FAULTS_ARGS="-fast -only ID,ID -json FILE")
	@go run ./testing/faults $(FAULTS_ARGS)

.PHONY: record
record: controlplane prometheus ## Make faults on a real API server for half an hour, and write what Prometheus scrapes as a test of the alerts
	FRESHWATCH_RECORD=1 go test -count=1 -timeout=1h -v -run='^TestRecord$$' ./testing/prometheus
	@$(MAKE) -s alerts

.PHONY: screenshots
screenshots: controlplane browser ## Take the pictures of docs/images: the page in a real browser, of a real stall
	@cd testing/page && go run ./cmd/screenshots $(SCREENSHOTS_ARGS)

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (30s)
	@grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r file; do \
	  for target in $$(sed -nE 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/p' $$file); do \
	    (cd $$(dirname $$file); go test -run='^$$' -fuzz="^$$target\$$" -fuzztime=$(or $(FUZZTIME),30s) .); \
	  done; \
	done

.PHONY: fleet
fleet: ## Run the simulated fleet: 1,000 informers, 30 days (FLEET=60x2d, SEED=number)
	FRESHWATCH_FLEET=$(or $(FLEET),1000x30d) go test -count=1 -timeout=2h -v -run='^TestFleet$$' ./freshness $(if $(SEED),-fleet.seed=$(SEED))

.PHONY: cover
cover: controlplane ## Run the tests of the library with coverage and write out/cover.html
	@mkdir -p $(OUT)
	go test $(TESTFLAGS) -covermode=atomic -coverpkg=./... -coverprofile=$(OUT)/cover.out ./...
	@go tool cover -html=$(OUT)/cover.out -o $(OUT)/cover.html
	@go tool cover -func=$(OUT)/cover.out | tail -1

.PHONY: apidiff
apidiff: ## Compare the exported API with the newest tag, or with BASE=<commit>
	@base=$${BASE:-$$(git describe --tags --abbrev=0 2>/dev/null || true)}; \
	if [ -z "$$base" ]; then \
	  echo "no release is tagged yet: name a commit to compare with, make apidiff BASE=<commit>"; exit 0; \
	fi; \
	$(MAKE) -s $(APIDIFF); \
	tree=$$(mktemp -d); trap 'rm -rf "$$tree"; git worktree prune' EXIT; \
	git worktree add --quiet --detach "$$tree/base" "$$base"; \
	echo "exported API of $(MODULE_PATH), $$base to the present files"; \
	(cd "$$tree/base" && $(APIDIFF) -m -w "$$tree/base.api" "$$(go list -m)"); \
	$(APIDIFF) -m -w "$$tree/head.api" $(MODULE_PATH); \
	$(APIDIFF) -m "$$tree/base.api" "$$tree/head.api"

.PHONY: rename
rename: ## Give the module another path everywhere: MODULE=example.com/you/freshwatch
	@[ -n "$(MODULE)" ] || { echo "usage: make rename MODULE=example.com/you/freshwatch"; exit 1; }
	@git grep -lzF '$(MODULE_PATH)' | xargs -0 sed -i.before-rename 's|$(subst .,\.,$(MODULE_PATH))|$(MODULE)|g'
	@git ls-files -z --others '*.before-rename' | xargs -0 rm
	@git ls-files -z '*.go' | xargs -0 gofmt -w
	@echo "$(MODULE_PATH) is now $$(go list -m)"

.PHONY: clean
clean: ## Remove what the other targets wrote into the checkout
	rm -rf bin $(OUT)

$(TOOLS_DIR)/%:
	@echo "building $* and the other tools into $(TOOLS_DIR) (the first time takes minutes)"
	@mkdir -p $(TOOLS_DIR)
	@cd tools && go build -o $(TOOLS_DIR)/ tool

# Both come of one build. Without service discovery: rules need none, and most of what
# they would be built from is that.
$(PROMTOOL):
	@echo "building promtool and Prometheus into $(@D) (the first time takes minutes)" >&2
	@mkdir -p $(@D)
	@cd tools/prometheus && go build -tags=remove_all_sd -ldflags='-s -w' -o $(@D)/ tool
