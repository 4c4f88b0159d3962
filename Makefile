# Builds and downloads go to bin/, which git ignores.

GO     ?= go
CONSUL := bin/consul
ETCD   := bin/etcd
LINT   := bin/golangci-lint
NPM    := bin/holders/node_modules/etcd-leader/package.json
SVG    := bin/pictures/node_modules/.bin/svg-term

# As in a release, without C. Without gRPC's pages of traces, the linker can leave out unused methods: 5 MB less in the
# file, 3.5 MB less in memory.
BUILD := CGO_ENABLED=0 $(GO) build -tags grpcnotrace

.PHONY: build help share test drain faults lint bench bench-go pictures demo consul etcd holders clean

build: ## builds bin/electop
	$(BUILD) -o bin/electop .

share: ## writes the manual pages and shell completions of the packages to bin/share
	rm -rf bin/share && mkdir -p bin/share/man bin/share/completions
	$(BUILD) -trimpath -o bin/static/electop .
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(GO) run ./tools/man bin/share/man && gzip -9n bin/share/man/*
	bin/static/electop completion bash > bin/share/completions/electop.bash
	bin/static/electop completion zsh > bin/share/completions/_electop
	bin/static/electop completion fish > bin/share/completions/electop.fish

help: ## lists the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 10

consul: $(CONSUL) ## builds a real Consul for the tests from the Go module proxy (4 to 5 minutes the first time)

# Builds of others' programs. Without debug information, they take an eighth less time.
OTHERS := $(GO) build -gcflags=all=-dwarf=false -ldflags=-w

# A separate module keeps Consul's dependencies out of electop's go.mod. It sets
# the version of Consul.
$(CONSUL): tools/consul/go.mod tools/consul/go.sum
	cd tools/consul && $(OTHERS) -o ../../$(CONSUL) github.com/hashicorp/consul
	@touch $(CONSUL)

etcd: $(ETCD) ## builds a real etcd for the tests from the Go module proxy (about a minute the first time)

# A separate module, as for Consul. etcdutl restores snapshots.
$(ETCD): tools/etcd/go.mod tools/etcd/go.sum
	cd tools/etcd && $(OTHERS) -o ../../bin/etcdctl go.etcd.io/etcd/etcdctl/v3
	cd tools/etcd && $(OTHERS) -o ../../bin/etcdutl go.etcd.io/etcd/etcdutl/v3
	cd tools/etcd && $(OTHERS) -o ../../$(ETCD) go.etcd.io/etcd/server/v3
	@touch $(ETCD)

holders: $(NPM) ## installs npm's packages for internal/test/holders, whose tests skip without them

$(NPM): Makefile
	@mkdir -p bin/holders
	@! command -v npm >/dev/null || npm install --silent --prefix bin/holders --no-save --no-package-lock --ignore-scripts \
		consul@0.40.0 papi@0.29.1 etcd3@1.1.2 etcd-leader@0.0.1 || echo "npm failed to install its packages"
	@test ! -e $@ || touch $@

# Missing dependencies of tests, which skip without them, and fail if CI=true.
LEFT_OUT = $(strip $(shell \
	command -v patroni >/dev/null && ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 \
		&& /usr/bin/python3 -c 'import consul' 2>/dev/null \
		|| echo "Patroni (Debian: apt-get install patroni postgresql python3-consul)"; \
	command -v node >/dev/null && test -e $(NPM) || echo "npm's packages (Debian: apt-get install nodejs npm)"; \
	/usr/bin/etcd --help 2>&1 | grep -q enable-v2 || echo "an etcd with the v2 API (Debian: apt-get install etcd-server)"; \
	/usr/bin/python3 -c 'import etcd, etcd3' 2>/dev/null || echo "Python's etcd (Debian: apt-get install python3-etcd python3-etcd3)"; \
	command -v groff >/dev/null || echo "groff (Debian: apt-get install groff)"; \
	command -v prometheus >/dev/null && command -v promtool >/dev/null || echo "Prometheus (Debian: apt-get install prometheus)"))

# The race detector needs cgo. Without cgo, the same tests run without it. It is of no use where one goroutine computes
# (election, golden screens) or where a test runs other processes (internal/test). It makes SQLite twenty times slower.
# The other tests, the linters and the tests of the container's binary share one compilation, without cgo. The packages for
# the race detector are compiled while these tests wait.
RACE   := $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)
PLAIN  := ./election/... ./ui/... ./tools/... ./internal/test/... ./internal/history/...
RACED  := . ./consulx/... ./etcdx/... $(patsubst %,./%/...,$(filter-out internal/test internal/history,$(wildcard internal/*)))
TEST    = ELECTOP_LEFT_OUT="$(LEFT_OUT)" $(GO) test -p 4 -timeout 20m

test: consul etcd holders ## runs all tests, including those with a real Consul and etcd, real lock holders and tmux
	nice $(GO) list $(RACE) -test -export $(RACED) >/dev/null & CGO_ENABLED=0 $(TEST) $(PLAIN) && wait
	$(TEST) $(RACE) $(RACED)
	$(TEST) $(RACE) -run 'TestRun|TestQuit|TestPanics|TestOneProcess|TestSeveral|TestAFullQueue|TestManyActions|TestARecorderTakes|TestRequestsAt' ./ui ./internal/history/...
	@test -z "$(LEFT_OUT)" || echo "Skipped, because not installed: $(LEFT_OUT)"

faults: consul etcd holders ## tests all faults, with 100 kills of the recorder; `make test` tests only the fast ones
	ELECTOP_FAULTS=all $(GO) test -count=1 -timeout 30m ./internal/test/faults ./consulx/observe ./etcdx
	ELECTOP_FAULTS=all $(GO) test -count=1 -timeout 30m -run DoNotOverlap ./internal/cli
	ELECTOP_FAULTS=all $(GO) test -count=1 -timeout 30m -v -run TestOutage ./internal/test/holders

drain: consul holders ## tests drains as often as their acceptance criteria say; `make test` tests each a few times
	ELECTOP_DRAIN=all $(GO) test -count=1 -timeout 30m -v -run 'TestDrain' ./internal/test/holders

lint: $(LINT) ## checks the format and runs vet and the linters of .golangci.yml
	CGO_ENABLED=0 $(LINT) run --allow-parallel-runners ./...

$(LINT): tools/lint/go.mod tools/lint/go.sum
	cd tools/lint && $(OTHERS) -o ../../$(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $(LINT)

# All sizes take about 17 minutes. BENCH adds flags: make bench BENCH='-sizes 10000 -markdown docs/performance.md'.
# `go run ./tools/bench -help` lists them.
bench: build consul ## compares electop with other watchers on a real Consul: one table per number of elections
	$(GO) run ./tools/bench $(BENCH)

bench-go: ## runs the Go benchmarks: tracker, decoder, table, one frame
	$(GO) test -run '^$$' -bench . -benchmem ./...

pictures: build $(SVG) ## draws docs/pictures from `electop demo`; needs tmux and npm
	$(GO) run ./tools/pictures

$(SVG): Makefile
	npm install --silent --prefix bin/pictures --no-save --no-package-lock --ignore-scripts svg-term-cli@2.1.1
	@touch $@

demo: ## runs the dashboard on an in-process agent with services that fail over
	$(GO) run . demo

clean:
	rm -rf bin
