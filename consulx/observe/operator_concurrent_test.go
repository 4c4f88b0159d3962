package observe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/consulx/internal/wire"
	"electop/election"
)

// concurrentClients are clients that write a few keys continually. They use transactions, because the response
// contains the result of each write.
type concurrentClients struct {
	backend
	keys []string

	mu       sync.Mutex
	sessions []string
	dead     map[string]bool
	writes   map[uint64]api.KVPair // by ModifyIndex
	latest   map[string]uint64     // by key: the index of the latest write or delete
	deleted  map[string]bool
	releases []unlocked
}

// unlocked is one release by electop. It contains the index in the release's condition and the index of the release.
type unlocked struct {
	op    api.KVTxnOp
	bound uint64
	at    uint64
}

// TestRacesInFreeRun runs clients and electop concurrently. It then compares electop's actions with the record of all
// writes.
func TestRacesInFreeRun(t *testing.T) { onBoth(t, raceFreely) }

func raceFreely(b backend) {
	t := b.T
	c := newConcurrentClients(b)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for i := range 3 {
		writers.Go(func() { c.write(rand.New(rand.NewPCG(raceSeed, uint64(i))), stop) })
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	client := over(t, &releaseRecorder{next: transport, concurrentClients: c, host: b.client.Address()})
	op, r := consulx.NewOperator(client, nil), rand.New(rand.NewPCG(raceSeed, 99))
	counts := map[string]int{}
	enough := func() bool {
		acted := counts["release"] + counts["release moved"] + counts["destroy"] + counts["destroy moved"]
		return acted >= raceCount(t) && counts["release moved"] > 0 && counts["destroy"] > 0
	}
	for !enough() && !t.Failed() {
		c.actOnce(op, r, counts)
	}
	close(stop)
	writers.Wait()
	t.Logf("%v; %d writes, %d releases", counts, len(c.writes), len(c.releases))
	c.compare()
	for _, s := range c.sessions {
		if _, err := b.API.Session().Destroy(s, nil); err != nil {
			t.Error(err)
		}
	}
}

func newConcurrentClients(b backend) *concurrentClients {
	p := b.Prefix(b.T)
	c := &concurrentClients{
		backend: b, dead: map[string]bool{}, writes: map[uint64]api.KVPair{}, latest: map[string]uint64{}, deleted: map[string]bool{},
	}
	for i := range 4 {
		c.keys = append(c.keys, fmt.Sprint(p, i, []string{"/leader", "/.lock"}[i%2]))
	}
	for range 4 {
		c.sessions = append(c.sessions, c.newSession())
	}
	return c
}

func (c *concurrentClients) newSession() string {
	id, _, err := c.API.Session().CreateNoChecks(&api.SessionEntry{Name: "concurrentClients", LockDelay: time.Millisecond}, nil)
	if err != nil {
		c.T.Error(err)
	}
	return id
}

// write writes until stop is closed.
func (c *concurrentClients) write(r *rand.Rand, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		key, i := c.keys[r.IntN(len(c.keys))], r.IntN(len(c.sessions))
		c.mu.Lock()
		session := c.sessions[i]
		c.mu.Unlock()
		value := fmt.Appendf(nil, "value %d", r.Uint64())
		op := &api.KVTxnOp{Verb: api.KVLock, Key: key, Session: session, Value: value, Flags: r.Uint64()}
		switch n := r.IntN(20); {
		case n < 4:
			op.Verb = api.KVUnlock
		case n < 5:
			op.Verb, op.Session = api.KVSet, ""
		case n < 6:
			op.Verb = api.KVDelete
		case n < 7:
			c.kill(i, session)
			continue
		}
		c.commit(op)
	}
}

// commit writes and reads in one transaction.
func (c *concurrentClients) commit(op *api.KVTxnOp) {
	after := &api.KVTxnOp{Verb: api.KVGetOrEmpty, Key: op.Key}
	// The mutex is held until the write is recorded, so that the records have the order of the writes.
	c.mu.Lock()
	defer c.mu.Unlock()
	ok, answer, _, err := c.API.Txn().Txn(api.TxnOps{{KV: op}, {KV: after}}, nil)
	if err != nil {
		c.T.Error(err)
		return
	}
	if !ok {
		return
	}
	pair := *answer.Results[len(answer.Results)-1].KV
	c.deleted[op.Key] = op.Verb == api.KVDelete
	if op.Verb != api.KVDelete {
		c.writes[pair.ModifyIndex], c.latest[op.Key] = pair, pair.ModifyIndex
	}
}

func (c *concurrentClients) kill(i int, session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions[i] != session {
		return
	}
	c.dead[session] = true
	if _, err := c.API.Session().Destroy(session, nil); err != nil {
		c.T.Error(err)
	}
	c.sessions[i] = c.newSession()
}

// actOnce runs one action of electop on the current hold of a key.
func (c *concurrentClients) actOnce(op *consulx.Operator, r *rand.Rand, counts map[string]int) {
	pair := c.Get(c.T, c.keys[r.IntN(len(c.keys))])
	if pair == nil || pair.Session == "" {
		counts["vacant"]++
		return
	}
	target, name := targetOf(wire.Pair(pair)), "release"
	var err error
	if r.IntN(5) == 0 {
		name = "destroy"
		err = op.DestroySession(c.T.Context(), election.Destroy{Target: target, Unsearched: true})
		c.replace(target.Session, err == nil)
	} else {
		err = op.Release(c.T.Context(), target)
	}
	switch {
	case errors.Is(err, consulx.ErrMoved), errors.Is(err, consulx.ErrNoSession):
		name += " moved"
	case err != nil:
		c.T.Errorf("%s: %v", name, err)
	}
	counts[name]++
}

// replace creates a new session instead of one that electop destroyed.
func (c *concurrentClients) replace(session string, destroyed bool) {
	if !destroyed {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dead[session] = true
	for i, s := range c.sessions {
		if s == session {
			c.sessions[i] = c.newSession()
		}
	}
}

// releaseRecorder records every release that Consul confirmed.
type releaseRecorder struct {
	next              http.RoundTripper
	concurrentClients *concurrentClients
	host              string
}

func (rec *releaseRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	r.URL.Host = rec.host
	releases := isUnlock(r)
	var ops api.TxnOps
	if releases {
		body, err := r.GetBody()
		if err == nil {
			err = json.NewDecoder(body).Decode(&ops)
		}
		if err != nil {
			return nil, err
		}
	}
	answer, err := rec.next.RoundTrip(r)
	if err != nil || !releases || answer.StatusCode != http.StatusOK {
		return answer, err
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(text))
	var result api.TxnResponse
	if err := json.Unmarshal(text, &result); err != nil {
		return nil, err
	}
	rec.concurrentClients.released(ops, result)
	return answer, nil
}

func (c *concurrentClients) released(ops api.TxnOps, result api.TxnResponse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := unlocked{at: result.Results[len(result.Results)-1].KV.ModifyIndex}
	for _, op := range ops {
		switch op.KV.Verb {
		case api.KVCheckIndex:
			u.bound = op.KV.Index
		case api.KVUnlock:
			u.op = *op.KV
		}
	}
	c.releases = append(c.releases, u)
}

// compare compares electop's actions with the record of all other writes.
func (c *concurrentClients) compare() {
	free := map[string]uint64{} // by key: the latest release
	for _, u := range c.releases {
		before, known := c.writes[u.bound]
		if !known || before.Session != u.op.Session || before.Flags != u.op.Flags || !bytes.Equal(before.Value, u.op.Value) {
			c.T.Errorf("a release was written as %+v, but at its condition index %d the key was %+v", u.op, u.bound, before)
		}
		for index, p := range c.writes {
			if p.Key == u.op.Key && index > u.bound && index < u.at {
				c.T.Errorf("a release at index %d ignored the write at %d", u.at, index)
			}
		}
		free[u.op.Key] = max(free[u.op.Key], u.at)
	}
	for _, key := range c.keys {
		now, last := c.Get(c.T, key), c.writes[c.latest[key]]
		switch {
		case c.deleted[key]:
			if now != nil {
				c.T.Errorf("%s was last deleted, but exists: %+v", key, now)
			}
		case now == nil || !bytes.Equal(now.Value, last.Value) || now.Flags != last.Flags:
			c.T.Errorf("%s was last written as %+v, but is %+v", key, last, now)
		case last.Session != "" && !c.dead[last.Session] && free[key] < last.ModifyIndex && now.Session != last.Session:
			c.T.Errorf("%s is no longer held by %s, although neither a release nor a destroy ended this hold", key, last.Session)
		}
	}
}
