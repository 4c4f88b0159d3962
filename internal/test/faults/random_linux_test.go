package faults

import (
	"bytes"
	"context"
	"net/http"
	"syscall"
	"time"

	"electop/internal/consultest"
)

// randomFault is a fault that the soak test may inject. inject returns when the fault has ended.
type randomFault struct {
	name   string
	inject func(s *soak, ctx context.Context)
}

func soakFaults() []randomFault {
	faults := []randomFault{
		{"black hole", (*soak).blackHole},
		{"half-open connections", func(s *soak, _ context.Context) { s.proxy.Freeze() }},
		{"reset storm", (*soak).resets},
		{"latency of 2s", func(s *soak, ctx context.Context) {
			s.during(ctx, 12*time.Second, consultest.Fault{Latency: 2 * time.Second})
		}},
		{"blocked queries cut", func(s *soak, ctx context.Context) {
			s.during(ctx, 20*time.Second, consultest.Fault{CutAfter: 3 * time.Second})
		}},
		{"truncated bodies", func(s *soak, ctx context.Context) { s.during(ctx, 6*time.Second, consultest.Fault{Alter: truncate}) }},
		{"corrupt bodies", func(s *soak, ctx context.Context) { s.during(ctx, 6*time.Second, consultest.Fault{Alter: corrupt}) }},
		{"agent killed", (*soak).agentKilled},
		{"agent stopped", (*soak).agentStopped},
		{"consensus leader killed", (*soak).leaderKilled},
		{"quorum lost", (*soak).quorumLost},
		{"SIGSTOP of the agent", (*soak).agentSuspended},
		{"SIGSTOP of electop", (*soak).electopSuspended},
		{"token revoked", (*soak).tokenRevoked},
		{"snapshot saved", (*soak).snapshotSaved},
		{"snapshot restored", (*soak).snapshotRestored},
	}
	for _, r := range foreignResponses() {
		faults = append(faults, randomFault{r.name, func(s *soak, ctx context.Context) {
			s.during(ctx, 6*time.Second, consultest.Fault{Respond: r.handler})
		}})
	}
	return faults
}

// foreignResponse is a response that Consul did not send.
type foreignResponse struct {
	name    string
	handler http.HandlerFunc
}

func foreignResponses() []foreignResponse {
	const page = "<html><head><title>Sign in</title></head><body>Please sign in</body></html>"
	return []foreignResponse{
		{"200 empty", consultest.Reply(http.StatusOK, "application/json", "")},
		{"200 []", consultest.Reply(http.StatusOK, "application/json", "[]")},
		{"200 HTML", consultest.Reply(http.StatusOK, "text/html", page)},
		{"404", consultest.Reply(http.StatusNotFound, "text/plain", "404 page not found")},
		{"429", consultest.Reply(http.StatusTooManyRequests, "text/plain", "Too Many Requests")},
		{"500", consultest.Reply(http.StatusInternalServerError, "text/plain", "internal error")},
		{"502", consultest.Reply(http.StatusBadGateway, "text/html", "<html><body><h1>502 Bad Gateway</h1></body></html>")},
	}
}

func truncate(body []byte) []byte { return body[:len(body)/2] }

// corrupt changes the first byte and some other bytes.
func corrupt(body []byte) []byte {
	for i := 0; i < len(body); i += 7 {
		body[i] ^= 0x55
	}
	return body
}

// during makes the proxy inject a fault for some time.
func (s *soak) during(ctx context.Context, d time.Duration, f consultest.Fault) {
	s.proxy.Set(f)
	s.wait(ctx, d)
	s.proxy.Set(consultest.Fault{})
}

func (s *soak) blackHole(ctx context.Context) {
	s.during(ctx, time.Duration(2+s.rng.IntN(18))*time.Second, consultest.Fault{Silent: true})
}

func (s *soak) resets(ctx context.Context) {
	for range 60 {
		s.proxy.Reset()
		s.wait(ctx, 100*time.Millisecond)
	}
}

func (s *soak) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Error(err)
	}
}

func (s *soak) agentKilled(ctx context.Context) {
	s.must(s.agents[0].Kill())
	s.wait(ctx, 5*time.Second)
	s.must(s.agents[0].Restart())
}

func (s *soak) agentStopped(ctx context.Context) {
	s.must(s.agents[0].Stop())
	s.wait(ctx, 5*time.Second)
	s.must(s.agents[0].Restart())
}

// leader returns the index of the server that leads the cluster.
func (s *soak) leader() int {
	for _, asked := range s.agents {
		addr, err := asked.Client().Status().Leader()
		if err != nil {
			continue
		}
		for i, a := range s.agents {
			if addr == a.ServerAddr() {
				return i
			}
		}
	}
	return 0
}

func (s *soak) leaderKilled(ctx context.Context) {
	a := s.agents[s.leader()]
	s.must(a.Kill())
	s.wait(ctx, 8*time.Second)
	s.must(a.Restart())
}

func (s *soak) quorumLost(ctx context.Context) {
	s.must(s.agents[1].Kill())
	s.must(s.agents[2].Kill())
	s.wait(ctx, 15*time.Second)
	s.must(s.agents[1].StartNoWait())
	s.must(s.agents[2].StartNoWait())
	s.must(s.agents[0].WaitReady())
}

func (s *soak) agentSuspended(ctx context.Context) {
	pid := s.agents[0].PID()
	s.must(syscall.Kill(pid, syscall.SIGSTOP))
	s.wait(ctx, 8*time.Second)
	s.must(syscall.Kill(pid, syscall.SIGCONT))
}

func (s *soak) electopSuspended(ctx context.Context) {
	s.must(s.watch.cmd.Process.Signal(syscall.SIGSTOP))
	s.wait(ctx, time.Duration(3+s.rng.IntN(12))*time.Second)
	s.must(s.watch.cmd.Process.Signal(syscall.SIGCONT))
}

func (s *soak) tokenRevoked(ctx context.Context) {
	client := s.agents[0].Client()
	s.must(revoke(client, s.token))
	s.wait(ctx, 12*time.Second)
	s.must(restore(client, s.token))
}

func (s *soak) snapshotSaved(context.Context) {
	defer s.hold()()
	image, err := save(s.agents[0])
	s.must(err)
	s.older = image
}

func (s *soak) snapshotRestored(ctx context.Context) {
	if s.older == nil {
		s.snapshotSaved(ctx)
		return
	}
	defer s.hold()()
	asked := time.Now()
	s.must(s.agents[0].Client().Snapshot().Restore(nil, bytes.NewReader(s.older)))
	s.must(s.agents[0].WaitReady())
	for _, w := range s.writers {
		s.must(w.restored(asked))
	}
}

// hold stops all writers until the returned function is called.
func (s *soak) hold() (release func()) {
	for _, w := range s.writers {
		w.mu.Lock()
	}
	return func() {
		for _, w := range s.writers {
			w.mu.Unlock()
		}
	}
}
