# electop. Everything that is built or downloaded for tests lands in bin/, which git ignores.

GO     ?= go
CONSUL := bin/consul
LINT   := bin/golangci-lint
NPM    := bin/holders/node_modules/consul/package.json

.PHONY: build test faults soak lint bench bench-go demo consul holders clean

build: ## the program, into bin/electop
	$(GO) build -o bin/electop .

consul: $(CONSUL) ## a real Consul for the tests, from the Go module proxy (4 to 5 minutes the first time)

# A separate module, so that electop's own stays small. Its version is the one
# that tools/consul/go.mod names.
$(CONSUL): tools/consul/go.mod tools/consul/go.sum
	$(GO) -C tools/consul build -o ../../$(CONSUL) github.com/hashicorp/consul
	@touch $(CONSUL)

holders: $(NPM) ## npm's consul package for internal/holders; without npm or a network, its tests are left out

$(NPM): Makefile
	@mkdir -p bin/holders
	@! command -v npm >/dev/null || npm install --silent --prefix bin/holders --no-save --no-package-lock --ignore-scripts \
		consul@0.40.0 papi@0.29.1 || echo "npm could not install its consul package"
	@test ! -e $@ || touch $@

# What internal/holders needs and does not find here. Its tests skip without it, and fail where CI=true.
LEFT_OUT = $(strip $(shell \
	command -v patroni >/dev/null && ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 \
		&& /usr/bin/python3 -c 'import consul' 2>/dev/null \
		|| echo "Patroni (Debian: apt-get install patroni postgresql python3-consul)"; \
	command -v node >/dev/null && test -e $(NPM) || echo "npm's consul package (Debian: apt-get install nodejs npm)"))

# The race detector links with a C compiler; a machine without one runs the same
# tests without it.
RACE := $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)

test: consul holders ## every test, the real Consul, real lock holders and the journeys in tmux included
	ELECTOP_LEFT_OUT="$(LEFT_OUT)" $(GO) test $(RACE) -timeout 15m ./...
	@test -z "$(LEFT_OUT)" || echo "Left out, because not installed: $(LEFT_OUT)"

faults: consul ## every fault of internal/faults; `make test` runs those that take little time
	ELECTOP_FAULTS=all $(GO) test -count=1 -timeout 30m ./internal/faults

SOAK ?= 30m

soak: consul ## random faults at 20 changes a second: make soak SOAK=30m
	SOAK=$(SOAK) $(GO) test -count=1 -timeout 0 -run '^TestSoak$$' -v ./internal/faults

lint: $(LINT) ## formatting, vet and the strict list of .golangci.yml
	$(LINT) run ./...

$(LINT): tools/lint/go.mod tools/lint/go.sum
	$(GO) -C tools/lint build -o ../../$(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $(LINT)

# All sizes take about 17 minutes. BENCH adds flags: make bench BENCH='-sizes 10000 -markdown docs/performance.md'.
# `go run ./tools/bench -help` lists them.
bench: build consul ## electop, a recursive loop, a query a key and `consul watch` on a real Consul, in one table a size
	$(GO) run ./tools/bench $(BENCH)

bench-go: ## Go's own benchmarks: tracker, decoder, table, one frame
	$(GO) test -run '^$$' -bench . -benchmem ./...

demo: ## the dashboard on an in-process agent with services that fail over
	$(GO) run . demo

clean:
	rm -rf bin
