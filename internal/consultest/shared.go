package consultest

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// Runner is the part of *testing.M that this package uses.
type Runner interface {
	Run() int
}

// sharedAgent is the shared agent of a test binary. It runs longer than each test, so TestMain ends it.
type sharedAgent struct {
	mu    sync.Mutex
	owned bool // set by Wrap; TestMain must call Wrap
	dir   string
	agent *Agent
	err   error
}

var shared sharedAgent //nolint:gochecknoglobals // one agent for all tests of a binary

// Shared returns the development agent of the test binary and starts it on the first call. Each test must use its own
// keys, nodes and services. The package's TestMain must call [Wrap].
func Shared(tb testing.TB) *Agent {
	tb.Helper()
	binary := Binary(tb)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if !shared.owned {
		tb.Fatal("consultest.Shared requires a TestMain that calls consultest.Wrap(m), which ends the agent")
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

// Wrap returns a runner that sets a temporary state folder, runs the tests, and ends the shared agent. For
// example: goleak.VerifyTestMain(consultest.Wrap(m)).
func Wrap(m Runner) Runner {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.owned = true
	return wrapped{m}
}

type wrapped struct{ inner Runner }

// Run runs the tests and returns their exit code. If the tests passed but the shared agent could not be ended, it
// returns 1.
func (w wrapped) Run() int {
	state, err := os.MkdirTemp("", "electop-state-")
	if err == nil {
		err = os.Setenv("XDG_STATE_HOME", state) // tests must not write a history file to the home folder
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(state)
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
