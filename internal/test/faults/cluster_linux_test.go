package faults

import (
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// In each of these faults, servers of a cluster fail, but the server that electop uses continues to run.
func TestClusterFaults(t *testing.T) {
	for _, f := range []fault{leaderKilled(), quorumLost("quorum lost for 10 s", 10*time.Second), quorumLost("quorum lost for 60 s", time.Minute)} {
		t.Run(f.name, f.play)
	}
}

// cluster starts three servers and returns Consul's leader last.
func cluster(t *testing.T) []*consultest.Agent {
	t.Helper()
	agents := consultest.Cluster(t, 3, keepDeadServers())
	addr, err := agents[0].Client().Status().Leader()
	must(t, err)
	i := slices.IndexFunc(agents, func(a *consultest.Agent) bool { return a.ServerAddr() == addr })
	if i < 0 {
		t.Fatalf("no server has the leader's address %s", addr)
	}
	return append(slices.Delete(slices.Clone(agents), i, i+1), agents[i])
}

func leaderKilled() fault {
	var agents []*consultest.Agent
	return fault{
		name: "consensus leader killed", lasts: 10 * time.Second,
		at: func(t *testing.T) setting {
			agents = cluster(t)
			return setting{agent: agents[0], writers: []*api.Client{agents[0].Client(), agents[1].Client()}}
		},
		begin: func(s *stage) { s.must(agents[2].Kill()) },
		end:   func(s *stage) { s.must(agents[2].Restart()) },
	}
}

func quorumLost(name string, lasts time.Duration) fault {
	var agents []*consultest.Agent
	return fault{
		name: name, lasts: lasts, still: true,
		at: func(t *testing.T) setting {
			agents = cluster(t)
			return setting{agent: agents[0]}
		},
		begin: func(s *stage) {
			s.must(agents[1].Kill())
			s.must(agents[2].Kill())
		},
		end: func(s *stage) {
			s.must(agents[1].StartNoWait())
			s.must(agents[2].StartNoWait())
			s.must(agents[0].WaitReady())
		},
	}
}

// keepDeadServers makes Consul accept a killed server as a voter when it returns.
func keepDeadServers() consultest.Option {
	return consultest.WithConfig(`autopilot { cleanup_dead_servers = false }`)
}
