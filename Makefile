# electop. Everything that is built or downloaded for tests lands in bin/, which git ignores.

GO     ?= go
CONSUL := bin/consul
LINT   := bin/golangci-lint

.PHONY: build test lint bench bench-go demo consul clean

build: ## the program, into bin/electop
	$(GO) build -o bin/electop .

consul: $(CONSUL) ## a real Consul for the tests, from the Go module proxy (4 to 5 minutes the first time)

# A separate module, so that electop's own stays small. Its version is the one
# that tools/consul/go.mod names.
$(CONSUL): tools/consul/go.mod tools/consul/go.sum
	$(GO) -C tools/consul build -o ../../$(CONSUL) github.com/hashicorp/consul
	@touch $(CONSUL)

# The race detector links with a C compiler; a machine without one runs the same
# tests without it.
RACE := $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)

test: consul ## every test, the real Consul and the journeys in tmux included
	$(GO) test $(RACE) -timeout 15m ./...

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
