package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// long reports whether `make drain` runs the tests.
func long() bool { return os.Getenv("ELECTOP_DRAIN") == "all" }

// few returns the number of runs of a test: all with `make drain`, otherwise times.
func few(times, all int) int {
	if long() {
		return all
	}
	return times
}

// txnOp is one operation of a transaction.
type txnOp struct {
	KV struct {
		Verb, Key, Session, Value string
		Flags, Index              uint64
	}
}

// writeLog is a proxy that logs the writes of electop.
type writeLog struct {
	addr string

	mu      sync.Mutex
	unlocks []txnOp
	others  []string // writes that a drain must not send
}

func newWriteLog(t *testing.T, addr string) *writeLog {
	l := &writeLog{}
	l.addr = consultest.ReverseProxy(t, addr, func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
		l.read(r)
		forward.ServeHTTP(w, r)
	})
	return l
}

// read logs a request that writes, and reports whether it unlocks a key.
func (l *writeLog) read(r *http.Request) (unlocks bool) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	l.mu.Lock()
	defer l.mu.Unlock()
	var ops []txnOp
	var verbs []string
	if r.URL.Path == "/v1/txn" && json.Unmarshal(body, &ops) == nil {
		for _, op := range ops {
			verbs = append(verbs, op.KV.Verb)
		}
	}
	reads := !slices.ContainsFunc(verbs, func(verb string) bool { return verb != "get" && verb != "get-tree" })
	switch {
	case r.Method == http.MethodGet, r.URL.Path == "/v1/internal/acl/authorize", len(verbs) > 0 && reads:
		return false
	case slices.Equal(verbs, []string{"check-index", "check-session", "unlock"}):
		l.unlocks = append(l.unlocks, ops[2])
		return true
	}
	l.others = append(l.others, fmt.Sprintf("%s %s %s", r.Method, r.URL, body))
	return false
}

// stage has seven elections. For each, two polling candidates run on the drained node and one on each other node.
type stage struct {
	*testConsul
	t         *testing.T
	log       *writeLog
	prefix    string
	drained   string
	sessions  map[string]string // by session: its node
	values    map[string]string // by session: the value that it writes
	keys      []string
	elsewhere atomic.Bool // set to pause the candidates on other nodes
}

// newStage creates the sessions with one client per node.
func newStage(t *testing.T, w *testConsul, drained string, session func(node string) string, others ...string) *stage {
	s := &stage{
		testConsul: w, t: t, log: newWriteLog(t, w.addr), prefix: prefix(t), drained: drained,
		sessions: map[string]string{}, values: map[string]string{},
	}
	var all []candidate
	for i := range 7 {
		key := fmt.Sprintf("%s/web%d/leader", s.prefix, i)
		s.keys = append(s.keys, key)
		for j, node := range append([]string{drained, drained}, others...) {
			c := candidate{key: key, session: session(node), value: fmt.Sprintf("web%d-%d", i, j)}
			if node != drained {
				c.paused = &s.elsewhere
			}
			all = append(all, c)
			s.sessions[c.session], s.values[c.session] = node, c.value
		}
	}
	s.elsewhere.Store(true)
	pollers(t, w, all, 100*time.Millisecond)
	return s
}

// reset lets the drained node lead every election.
func (s *stage) reset() {
	s.elsewhere.Store(true)
	eventually(s.t, "leaders on the drained node", func() bool {
		done := true
		for _, key := range s.keys {
			pair := s.get(key)
			if pair != nil && pair.Session != "" && s.sessions[pair.Session] != s.drained {
				_, _, _ = s.client.KV().Release(&api.KVPair{Key: key, Session: pair.Session, Value: pair.Value, Flags: pair.Flags}, nil)
			}
			done = done && pair != nil && s.sessions[pair.Session] == s.drained
		}
		return done
	})
	s.elsewhere.Store(false)
}

func (s *stage) drain(ctx context.Context, args ...string) result {
	var out, errOut buffer
	d := deps{stdin: strings.NewReader(""), stdout: &out, stderr: &errOut}
	args = append([]string{"--http-addr", s.log.addr, "drain", s.drained, "--yes", "-o", "json", "-k", s.prefix + "/*/leader", "--history", "off"}, args...)
	return result{run(ctx, d, args), out.String(), errOut.String()}
}

// verify checks that electop only unlocked keys that the drained node led, with the value
// and the flags of the holder, and that every key is led.
func (s *stage) verify() {
	s.t.Helper()
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	for _, line := range s.log.others {
		s.t.Errorf("unexpected write: %s", line)
	}
	for _, op := range s.log.unlocks {
		value, _ := base64.StdEncoding.DecodeString(op.KV.Value)
		if s.sessions[op.KV.Session] != s.drained || op.KV.Flags != 7 || string(value) != s.values[op.KV.Session] {
			s.t.Errorf("unexpected release: %+v", op)
		}
	}
	s.log.others, s.log.unlocks = nil, nil
	for _, key := range s.keys {
		eventually(s.t, "leader of "+key, func() bool {
			pair := s.get(key)
			return pair.Session != "" && pair.Flags == 7 && string(pair.Value) == s.values[pair.Session]
		})
	}
}

func (s *stage) mustBeFree(r result) {
	s.t.Helper()
	r.must(s.t, exitOK)
	for _, key := range s.keys {
		if node := s.sessions[s.get(key).Session]; node == s.drained {
			s.t.Errorf("%s is led on %s", key, node)
		}
	}
}

// realStage uses three servers in the long tests: sessions are created on each agent.
func realStage(t *testing.T) *stage {
	t.Helper()
	if !long() {
		w := onReal(t)
		a, b, c := threeNodes(t, w)
		return newStage(t, w, a, w.sessionOn, b, c)
	}
	agents := consultest.Cluster(t, 3)
	w := newTestConsul(t, agents[0].Addr())
	on := func(node string) string {
		i := slices.IndexFunc(agents, func(a *consultest.Agent) bool { return a.Node() == node })
		id, _, err := agents[i].Client().Session().Create(&api.SessionEntry{Name: "test", LockDelay: time.Second}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	return newStage(t, w, agents[1].Node(), on, agents[0].Node(), agents[2].Node())
}

func TestAnInterruptedDrainLeavesNothingHalfDone(t *testing.T) {
	s := realStage(t)
	for range few(4, 50) {
		s.reset()
		after := rand.N(800 * time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), after)
		r := s.drain(ctx, "--settle", "200ms")
		cancel()
		if r.code != exitFailed && r.code != exitOK {
			t.Errorf("interrupted after %s: exit code %d: %s%s", after, r.code, r.out, r.errOut)
		}
		s.verify()
		s.mustBeFree(s.drain(t.Context(), "--settle", "200ms"))
		s.verify()
	}
}
