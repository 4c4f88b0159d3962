package faults

import (
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

func aServer(t *testing.T) setting   { return setting{agent: consultest.Server(t)} }
func aDevAgent(t *testing.T) setting { return setting{agent: consultest.Dev(t)} }

// In each of these faults, the agent that electop uses fails, or electop itself is suspended.
func TestAgentFaults(t *testing.T) {
	for _, f := range []fault{
		{
			name: "agent stopped and started", at: aServer, lasts: 6 * time.Second, still: true,
			begin: func(s *stage) { s.must(s.agent.Stop()) },
			end:   func(s *stage) { s.must(s.agent.Restart()) },
		}, {
			name: "agent killed and started", at: aServer, lasts: 6 * time.Second, still: true, quick: true,
			begin: func(s *stage) { s.must(s.agent.Kill()) },
			end:   func(s *stage) { s.must(s.agent.Restart()) },
		}, {
			name: "agent killed and started without its data", at: aDevAgent, lasts: 6 * time.Second, still: true,
			begin: func(s *stage) { s.must(s.agent.Kill()) },
			end:   (*stage).startWithoutData,
		}, {
			name: "SIGSTOP of the agent", at: aDevAgent, lasts: 8 * time.Second, still: true,
			begin: func(s *stage) { s.must(syscall.Kill(s.agent.PID(), syscall.SIGSTOP)) },
			end:   func(s *stage) { s.must(syscall.Kill(s.agent.PID(), syscall.SIGCONT)) },
		}, {
			name: "SIGSTOP of electop", lasts: 8 * time.Second, silent: true, quick: true,
			begin: func(s *stage) { s.suspend(syscall.SIGSTOP) },
			end:   func(s *stage) { s.suspend(syscall.SIGCONT) },
		},
		serversOfAClientAgent(),
	} {
		t.Run(f.name, f.play)
	}
}

// serversOfAClientAgent connects electop to a client agent, and kills the server to which the client agent is
// connected.
func serversOfAClientAgent() fault {
	var server *consultest.Agent
	return fault{
		name: "client agent without its server", lasts: 8 * time.Second, still: true,
		at: func(t *testing.T) setting {
			server = consultest.Server(t)
			return setting{agent: consultest.Client(t, []*consultest.Agent{server}), writers: []*api.Client{server.Client()}}
		},
		begin: func(s *stage) { s.must(server.Kill()) },
		// The client agent may need 20 s to find its server again.
		end: func(s *stage) {
			s.must(server.Restart())
			s.must(s.agent.WaitReady())
		},
	}
}

func (s *stage) suspend(sig syscall.Signal) {
	s.must(s.watch.cmd.Process.Signal(sig))
	s.must(s.board.signal(sig))
}

// startWithoutData restarts an agent in development mode, which loses its data.
func (s *stage) startWithoutData() {
	asked := time.Now()
	s.must(s.agent.Restart())
	k := s.writer.keys[0]
	k.pair, s.writer.session = nil, ""
	s.truth.restored(k.key, asked, false, "")
}
