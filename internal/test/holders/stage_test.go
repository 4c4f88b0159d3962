//go:build unix

package holders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// stage is one key on an agent, with the observed states of the key.
type stage struct {
	t      *testing.T
	agent  *consultest.Agent
	prefix string
	key    string
	home   string
	log    *keyLog
}

// newStage starts to observe the key <prefix>/<name>. The prefix is the name of the test and the unique number of its
// temporary folder.
func newStage(t *testing.T, name string) *stage {
	t.Helper()
	prefix := filepath.Base(filepath.Dir(t.TempDir()))
	return stageOn(t, consultest.Shared(t), prefix, prefix+"/"+name)
}

func stageOn(t *testing.T, agent *consultest.Agent, prefix, key string) *stage {
	t.Helper()
	return &stage{t: t, agent: agent, prefix: prefix, key: key, home: t.TempDir(), log: observe(t, agent, key)}
}

func (s *stage) client() *api.Client { return s.agent.Client() }

// environment returns the variables from which Consul's own tools read the agent's address.
func (s *stage) environment() []string {
	return cleanEnvironment("CONSUL_HTTP_ADDR=" + s.agent.Addr())
}

// electop runs electop on the stage's key, without the user's files.
func (s *stage) electop(args ...string) result {
	s.t.Helper()
	return s.electopOn(s.key, args...)
}

func (s *stage) electopOn(pattern string, args ...string) result {
	s.t.Helper()
	return execute(s.t, electop(s.home, append([]string{"--http-addr", s.agent.Addr(), "-k", pattern}, args...)...))
}

// act releases or destroys the stage's key and returns the hold that electop ended. The action must succeed.
func (s *stage) act(verb string) hold {
	s.t.Helper()
	before := s.get()
	if before == nil || before.Session == "" {
		s.t.Fatalf("%s has no holder: cannot %s it", s.key, verb)
	}
	start := time.Now()
	if r := s.electop(verb, s.key, "--yes"); r.code != 0 {
		s.t.Fatalf("%s: %v", verb, r)
	}
	s.t.Logf("electop %s took %v; the following times begin after it", verb, time.Since(start).Round(time.Millisecond))
	return hold{s, *before}
}

// eachVerb runs a test for a release and for a destroy, each on its own stage.
func eachVerb(t *testing.T, name string, test func(s *stage, verb string)) {
	t.Parallel()
	for _, verb := range []string{"release", "destroy"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			test(newStage(t, name), verb)
		})
	}
}

// listed returns the stage's election from `electop list`.
func (s *stage) listed() map[string]any {
	s.t.Helper()
	r := s.electop("list", "-o", "json")
	var all []map[string]any
	if err := json.Unmarshal([]byte(r.stdout), &all); err != nil || r.code != 0 || len(all) != 1 {
		s.t.Fatalf("list: %v, %v", err, r)
	}
	return all[0]
}

func (s *stage) get() *api.KVPair {
	s.t.Helper()
	pair, _, err := s.client().KV().Get(s.key, &api.QueryOptions{RequireConsistent: true})
	must(s.t, err)
	return pair
}

// session reads a session. It returns nil if the session has ended.
func (s *stage) session(id string) *api.SessionEntry {
	s.t.Helper()
	entry, _, err := s.client().Session().Info(id, nil)
	must(s.t, err)
	return entry
}

func (s *stage) sessionLives(id string) bool {
	s.t.Helper()
	return s.session(id) != nil
}

// led waits until a session holds the key, and returns the pair.
func (s *stage) led() *api.KVPair {
	s.t.Helper()
	return s.log.await(s.t, "a leader of "+s.key, func(st state) bool { return st.session() != "" }).pair
}

// hold is the state of a key before an action.
type hold struct {
	s    *stage
	pair api.KVPair
}

// successor waits for the next term, logs the vacancy and returns the pair of that term.
func (h hold) successor() *api.KVPair {
	h.s.t.Helper()
	next := h.s.log.await(h.s.t, "the next term of "+h.s.key, h.next)
	h.s.t.Logf("vacancy %v, holder %s -> %s", h.s.log.vacancy(h.pair.Session, next), h.pair.Session[:8], next.session()[:8])
	return next.pair
}

// next reports whether the pair belongs to a later term. If the same session leads again, LockIndex is higher, or the
// key was deleted and created again.
func (h hold) next(st state) bool {
	return st.session() != "" && st.pair.ModifyIndex > h.pair.ModifyIndex &&
		(st.session() != h.pair.Session || st.pair.LockIndex != h.pair.LockIndex || st.pair.CreateIndex != h.pair.CreateIndex)
}

// mustKeep checks the parts of a key that no action may change.
func (h hold) mustKeep(pair *api.KVPair) {
	h.s.t.Helper()
	switch {
	case pair == nil:
		h.s.t.Errorf("the key %s is deleted", h.pair.Key)
	case string(pair.Value) != string(h.pair.Value):
		h.s.t.Errorf("value %q -> %q", h.pair.Value, pair.Value)
	case pair.Flags != h.pair.Flags:
		h.s.t.Errorf("flags %d -> %d", h.pair.Flags, pair.Flags)
	}
}

// mustEnd waits until the hold's session has ended.
func (h hold) mustEnd() {
	h.s.t.Helper()
	h.s.t.Logf("the old session ended %v later", await(h.s.t, "the end of the session",
		func() bool { return !h.s.sessionLives(h.pair.Session) }).Round(time.Millisecond))
}

// state is the result of one blocking query.
type state struct {
	at   time.Time
	pair *api.KVPair // nil if the key does not exist
}

func (st state) session() string {
	if st.pair == nil {
		return ""
	}
	return st.pair.Session
}

// keyLog contains the observed states of a key. Consul may merge rapid changes, so a short state may be missing.
type keyLog struct {
	mu     sync.Mutex
	states []state
	err    error
}

// observe reads the key with blocking queries until the test ends.
func observe(t *testing.T, agent *consultest.Agent, key string) *keyLog {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	l, done := &keyLog{}, make(chan struct{})
	go func() {
		defer close(done)
		l.run(ctx, agent.Client().KV(), key)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return l
}

func (l *keyLog) run(ctx context.Context, kv *api.KV, key string) {
	var index, last uint64
	for ctx.Err() == nil {
		pair, meta, err := kv.Get(key, (&api.QueryOptions{WaitIndex: index, WaitTime: time.Minute}).WithContext(ctx))
		l.mu.Lock()
		if err == nil {
			l.states = append(l.states, state{time.Now(), pair})
		} else if !errors.Is(err, context.Canceled) {
			l.err = fmt.Errorf("observe %s: %w", key, err)
		}
		l.mu.Unlock()
		if err != nil {
			return
		}
		if index = meta.LastIndex; index < last {
			index = 0 // the index of a query can decrease
		}
		last = index
	}
}

// await waits for a state. It also accepts a state that was observed earlier.
func (l *keyLog) await(t *testing.T, what string, is func(state) bool) (found state) {
	t.Helper()
	await(t, what, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.err != nil {
			t.Fatal(l.err)
		}
		for _, st := range l.states {
			if is(st) {
				found = st
				return true
			}
		}
		return false
	})
	return found
}

// vacancy returns the time from the last observed state in which the session held the key to the next term. The
// result is too short if Consul merged these states.
func (l *keyLog) vacancy(session string, next state) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	began := next.at
	for i := len(l.states) - 1; i > 0; i-- {
		if st := l.states[i]; !st.at.After(next.at) && st.session() == "" && l.states[i-1].session() == session {
			began = st.at
			break
		}
	}
	return next.at.Sub(began).Round(100 * time.Microsecond)
}
