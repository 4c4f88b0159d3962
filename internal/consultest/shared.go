package consultest

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// Runner is what *testing.M is to this package.
type Runner interface {
	Run() int
}

// sharedAgent is the one agent of a test binary. It outlives every test, so no test can own it.
type sharedAgent struct {
	mu    sync.Mutex
	owned bool // a TestMain has promised to end it
	dir   string
	agent *Agent
	err   error
}

var shared sharedAgent //nolint:gochecknoglobals // one agent for all tests of a binary

// Shared gives a development agent that all tests of the binary use together. The first call starts it. Tests keep
// apart by using keys, nodes and services of their own. The package's TestMain must call [Main] or [Wrap].
func Shared(tb testing.TB) *Agent {
	tb.Helper()
	binary := Binary(tb)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if !shared.owned {
		tb.Fatal("consultest.Shared needs a TestMain that calls consultest.Main(m), or nobody would end the agent")
	}
	if shared.agent == nil && shared.err == nil {
		shared.agent, shared.dir, shared.err = startShared(binary)
	}
	if shared.err != nil {
		tb.Fatal(shared.err)
	}
	return shared.agent
}

func startShared(binary string) (*Agent, string, error) {
	dir, err := os.MkdirTemp("", "consultest-")
	if err != nil {
		return nil, "", err
	}
	agents, err := startAll(binary, dir, kind{dev: true, servers: 1}, newSettings(nil))
	if err != nil {
		return nil, dir, err
	}
	return agents[0], dir, nil
}

// Main is the whole of a TestMain: it runs the tests, ends the shared agent if one was started, and exits.
func Main(m *testing.M) { os.Exit(Wrap(m).Run()) }

// Wrap gives a runner that ends the shared agent after the tests, for a TestMain that has more to do afterwards:
//
//	goleak.VerifyTestMain(consultest.Wrap(m))
func Wrap(m Runner) Runner {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.owned = true
	return wrapped{m}
}

type wrapped struct{ inner Runner }

// Run runs the tests and gives their exit code, or 1 if they passed but the shared agent could not be ended.
func (w wrapped) Run() int {
	code := w.inner.Run()
	if err := endShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

func endShared() error {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.agent != nil {
		if err := shared.agent.Kill(); err != nil {
			return err
		}
		shared.agent = nil
	}
	if shared.dir == "" {
		return nil
	}
	return os.RemoveAll(shared.dir)
}
