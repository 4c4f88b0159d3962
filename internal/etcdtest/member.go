package etcdtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"electop/internal/consultest"
)

const stopGrace = 30 * time.Second

// Member is one etcd server. Its methods are safe for concurrent use.
type Member struct {
	name, binary string
	client, peer string // URLs
	data, log    string // paths
	flags        []string

	mu   sync.Mutex
	proc *consultest.Process // nil while the member is stopped
}

// Data returns the folder of the member's data.
func (m *Member) Data() string { return m.data }

// Endpoint returns the URL of the member for clients. It stays the same after a restart.
func (m *Member) Endpoint() string { return m.client }

// Kill ends the member with SIGKILL and returns when the process has ended.
func (m *Member) Kill() error { return m.end(os.Kill) }

// Stop ends the member with SIGTERM and returns when the process has ended. A follower may take several seconds.
func (m *Member) Stop() error { return m.end(syscall.SIGTERM) }

func (m *Member) end(sig os.Signal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.proc == nil {
		return nil
	}
	proc := m.proc
	m.proc = nil
	return proc.End(sig, stopGrace)
}

// Freeze stops the process with SIGSTOP. Its connections stay open.
func (m *Member) Freeze() error { return m.signal(stopSignal) }

// Thaw continues a frozen process.
func (m *Member) Thaw() error { return m.signal(continueSignal) }

func (m *Member) signal(sig os.Signal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.proc == nil {
		return errors.New("etcdtest: " + m.name + " is stopped")
	}
	return m.proc.Signal(sig)
}

// Start starts a stopped member with its data, and returns before it is ready; see [Cluster.WaitReady].
func (m *Member) Start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.proc != nil {
		return errors.New("etcdtest: " + m.name + " is already running")
	}
	args := append([]string{
		"--name", m.name, "--data-dir", m.data, "--log-level", "warn", "--unsafe-no-fsync",
		"--listen-client-urls", m.client, "--advertise-client-urls", m.client,
		"--listen-peer-urls", m.peer, "--initial-advertise-peer-urls", m.peer,
	}, m.flags...)
	proc, err := consultest.StartProcess(m.binary, m.log, args)
	if err != nil {
		return err
	}
	m.proc = proc
	return nil
}

func (m *Member) ended() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.proc == nil || m.proc.Ended()
}

func (m *Member) logTail() string { return consultest.Tail(m.log, 4<<10) }

// newMember chooses the ports of a member.
func newMember(binary, dir, name, scheme string) (*Member, error) {
	dir = filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ports, err := consultest.FreePorts(2)
	if err != nil {
		return nil, err
	}
	return &Member{
		name: name, binary: binary, data: filepath.Join(dir, "data"), log: filepath.Join(dir, "etcd.log"),
		client: fmt.Sprintf("%s://127.0.0.1:%d", scheme, ports[0]), peer: fmt.Sprintf("http://127.0.0.1:%d", ports[1]),
	}, nil
}
