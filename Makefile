# electop. Everything that is built or downloaded for tests lands in bin/, which git ignores.

GO     ?= go
CONSUL := bin/consul
LINT   := bin/golangci-lint

.PHONY: build test lint bench demo consul clean

build: ## the program, into bin/electop
	$(GO) build -o bin/electop .

consul: $(CONSUL) ## a real Consul for the tests, from the Go module proxy (4 to 5 minutes the first time)

# A separate module, so that electop's own stays small. Its version is the one
# that tools/consul/go.mod names.
$(CONSUL): tools/consul/go.mod tools/consul/go.sum
	$(GO) -C tools/consul build -o ../../$(CONSUL) github.com/hashicorp/consul
	@touch $(CONSUL)

test: consul ## every test, the real Consul and the journeys in tmux included
	$(GO) test -race -timeout 15m ./...

lint: $(LINT) ## formatting, vet and the strict list of .golangci.yml
	$(LINT) run ./...

$(LINT): tools/lint/go.mod tools/lint/go.sum
	$(GO) -C tools/lint build -o ../../$(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $(LINT)

bench: ## Go's own benchmarks: tracker, screen, one frame
	$(GO) test -run '^$$' -bench . -benchmem ./...

demo: ## the dashboard on an in-process agent with services that fail over
	$(GO) run . demo

clean:
	rm -rf bin
