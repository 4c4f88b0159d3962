package consulx

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

// How many rounds are raced on the real Consul; under -short only the in-process
// one is there. Each round begins with a random state from the seed.
const (
	raceRounds      = 1000
	raceRoundsShort = 100
	raceSeed        = 20261120
)

func raceCount(t *testing.T) int {
	t.Helper()
	if testing.Short() {
		return raceRoundsShort
	}
	return raceRounds
}

// race is one round: a holder, a rival, and a key that the operator acts on while
// both go on.
type race struct {
	backend
	r             *rand.Rand
	key, otherKey string
	holder, rival string
	holderDied    bool
	// record is the key after every write of the test: what the key must be if
	// the operator wrote nothing.
	record []*api.KVPair
}

// written notes the key after a write that was not electop's.
func (x *race) written() { x.record = append(x.record, x.get(x.t, x.key)) }

func (x *race) last() *api.KVPair { return x.record[len(x.record)-1] }

func (x *race) lock(session string) {
	value := fmt.Appendf(nil, "value %d\x00\xff", x.r.Uint64())
	x.acquire(x.t, api.KVPair{Key: x.key, Session: session, Value: value, Flags: x.r.Uint64()})
	x.written()
}

// unlockAsHolder is a release as its holder does it, with another value.
func (x *race) unlockAsHolder() {
	p := api.KVPair{Key: x.key, Session: x.holder, Value: []byte("released"), Flags: x.r.Uint64()}
	if _, _, err := x.api.KV().Release(&p, nil); err != nil {
		x.t.Fatal(err)
	}
	x.written()
}

func (x *race) remove() {
	if _, err := x.api.KV().Delete(x.key, nil); err != nil {
		x.t.Fatal(err)
	}
	x.written()
}

func (x *race) die() {
	if _, err := x.api.Session().Destroy(x.holder, nil); err != nil {
		x.t.Fatal(err)
	}
	x.holderDied = true
	x.written()
}

func (x *race) overwrite() {
	x.put(x.t, x.key, fmt.Sprint("overwritten ", x.r.Uint64()))
	x.written()
}

// interference is what may happen between a read and a write.
func interference() map[string]func(*race) {
	return map[string]func(*race){
		"nothing":                     func(*race) {},
		"the holder writes":           func(x *race) { x.lock(x.holder) },
		"the holder releases":         (*race).unlockAsHolder,
		"the rival leads":             func(x *race) { x.unlockAsHolder(); x.lock(x.rival) },
		"the holder leads again":      func(x *race) { x.unlockAsHolder(); x.lock(x.holder) },
		"the holder dies":             (*race).die,
		"the rival leads after death": func(x *race) { x.die(); x.lock(x.rival) },
		"deleted":                     (*race).remove,
		"recreated by the holder":     func(x *race) { x.remove(); x.lock(x.holder) },
		"recreated by the rival":      func(x *race) { x.remove(); x.lock(x.rival) },
		"overwritten":                 (*race).overwrite,
		"deleted and written":         func(x *race) { x.remove(); x.overwrite() },
		"overwritten, written by the holder": func(x *race) {
			x.overwrite()
			x.lock(x.holder)
		},
		"released and overwritten": func(x *race) { x.unlockAsHolder(); x.overwrite() },
		"the rival is refused": func(x *race) {
			if ok, _, err := x.api.KV().Acquire(&api.KVPair{Key: x.key, Session: x.rival}, nil); ok || err != nil {
				x.t.Fatal(ok, err)
			}
		},
	}
}

// TestRaces: whatever happens between electop's reads and its write, it acts on
// the hold that it was given or on nothing, and says so.
func TestRaces(t *testing.T) { onBoth(t, raceAll) }

func raceAll(b backend) {
	t := b.t
	prefix := b.prefix(t)
	r := rand.New(rand.NewPCG(raceSeed, 1))
	all := interference()
	names := slices.Sorted(maps.Keys(all))
	client, hook := hooked(t, b.client.Address())
	for i := range raceCount(t) {
		x := newRace(b, r, fmt.Sprint(prefix, i))
		name := names[i%len(names)]
		destroy := i/len(names)%2 == 1
		x.play(client, hook, name, all[name], destroy)
		if t.Failed() {
			t.Fatalf("round %d", i)
		}
		x.cleanUp()
	}
}

func newRace(b backend, r *rand.Rand, prefix string) *race {
	entry := func(name string) *api.SessionEntry {
		behavior := api.SessionBehaviorRelease
		if r.IntN(4) == 0 {
			behavior = api.SessionBehaviorDelete
		}
		return &api.SessionEntry{Name: name, Behavior: behavior, LockDelay: time.Millisecond}
	}
	last := []string{"leader", ".lock"}[r.IntN(2)]
	x := &race{backend: b, r: r, key: prefix + "/" + last, otherKey: prefix + "/other"}
	for session, name := range map[*string]string{&x.holder: "holder", &x.rival: "rival"} {
		id, _, err := b.api.Session().CreateNoChecks(entry(name), nil)
		if err != nil {
			b.t.Fatal(err)
		}
		*session = id
	}
	x.acquire(b.t, api.KVPair{Key: x.otherKey, Session: x.rival, Value: []byte("the rival's")})
	x.lock(x.holder)
	return x
}

func (x *race) cleanUp() {
	for _, session := range []string{x.holder, x.rival} {
		if _, err := x.api.Session().Destroy(session, nil); err != nil {
			x.t.Fatal(err)
		}
	}
}

// play acts while something interferes, before the operator's first read or
// directly before its write.
func (x *race) play(client *Client, hook *hookTransport, name string, interfere func(*race), destroy bool) {
	beforeWrite := x.r.IntN(3) > 0
	other := x.get(x.t, x.otherKey)
	target := targetOf(toPair(x.last()))
	read := len(x.record) - 1 // what the operator read last
	done := false
	hook.before = func(r *http.Request) {
		switch writes := isUnlock(r) || isDestroy(r); {
		case !writes:
			read = len(x.record) - 1
		case beforeWrite && !done:
			done = true
			interfere(x)
		}
	}
	if !beforeWrite {
		interfere(x)
	}
	op := NewOperator(client, nil)
	var err error
	if destroy {
		_, err = op.DestroySession(x.t.Context(), target)
	} else {
		_, err = op.Release(x.t.Context(), target)
	}
	hook.before = nil
	what := fmt.Sprintf("%s, destroy %t, directly before the write %t", name, destroy, beforeWrite)
	if destroy {
		x.judgeDestroy(what, target, err, x.record[read])
	} else {
		x.judgeRelease(what, target, err)
	}
	if now := x.get(x.t, x.otherKey); !reflect.DeepEqual(now, other) {
		x.t.Errorf("%s: another key changed: %+v became %+v", what, other, now)
	}
}

// isUnlock recognises the transaction that releases.
func isUnlock(r *http.Request) bool {
	if r.URL.Path != "/v1/txn" || r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	text, err := io.ReadAll(body)
	return err == nil && bytes.Contains(text, []byte(`"Verb":"unlock"`))
}

func (x *race) judgeRelease(what string, target election.Target, err error) {
	last, now := x.last(), x.get(x.t, x.key)
	if last == nil || !target.SameHold(toPair(last)) {
		if !errors.Is(err, ErrMoved) || !reflect.DeepEqual(now, last) {
			x.t.Errorf("%s: %v; the key was %+v and is %+v", what, err, last, now)
		}
		return
	}
	want := *last
	want.Session = ""
	if now != nil {
		want.ModifyIndex = now.ModifyIndex
	}
	if err != nil || now == nil || !reflect.DeepEqual(*now, want) || now.ModifyIndex <= last.ModifyIndex {
		x.t.Errorf("%s: %v; the key was %+v and is %+v", what, err, last, now)
	}
}

// judgeDestroy: no destroy is conditional, so that what counts is the key as the
// operator read it last. The rival's hold is never touched.
func (x *race) judgeDestroy(what string, target election.Target, err error, read *api.KVPair) {
	last, now := x.last(), x.get(x.t, x.key)
	held := read != nil && read.Session == target.Session
	if held != (err == nil) || !held && !errors.Is(err, ErrMoved) {
		x.t.Errorf("%s: %v; the operator had read %+v", what, err, read)
	}
	entry, _, infoErr := x.api.Session().Info(target.Session, nil)
	if infoErr != nil {
		x.t.Fatal(infoErr)
	}
	if gone := entry == nil; gone != (held || x.holderDied) {
		x.t.Errorf("%s: %v; the session is gone: %t", what, err, gone)
	}
	switch untouched := reflect.DeepEqual(now, last); {
	case !held || last == nil || last.Session != target.Session:
		if !untouched {
			x.t.Errorf("%s: the key was %+v and is %+v", what, last, now)
		}
	case now != nil && (now.Session != "" || !bytes.Equal(now.Value, last.Value) || now.Flags != last.Flags):
		x.t.Errorf("%s: the key was %+v and is %+v", what, last, now)
	}
}

// chaos are clients that write a few keys all the time, in transactions whose
// answers tell exactly what each write left behind.
type chaos struct {
	backend
	keys []string

	mu       sync.Mutex
	sessions []string
	dead     map[string]bool
	writes   map[uint64]api.KVPair // by ModifyIndex
	latest   map[string]uint64     // by key: the index of the last write, also of a delete
	deleted  map[string]bool
	releases []unlocked
}

// unlocked is one release of electop's: the index that it was bound to and the
// one that it caused.
type unlocked struct {
	op    api.KVTxnOp
	bound uint64
	at    uint64
}

// TestRacesInFreeRun: clients and electop act at once. Afterwards the record of all
// writes tells whether electop's were right.
func TestRacesInFreeRun(t *testing.T) { onBoth(t, raceFreely) }

func raceFreely(b backend) {
	t := b.t
	c := newChaos(b)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for i := range 3 {
		writers.Go(func() { c.write(rand.New(rand.NewPCG(raceSeed, uint64(i))), stop) })
	}
	transport := &http.Transport{MaxIdleConnsPerHost: defaultConns}
	t.Cleanup(transport.CloseIdleConnections)
	client := over(t, &releaseRecorder{next: transport, chaos: c, host: b.client.Address()})
	op, r := NewOperator(client, nil), rand.New(rand.NewPCG(raceSeed, 99))
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
	c.judge()
	for _, s := range c.sessions {
		if _, err := b.api.Session().Destroy(s, nil); err != nil {
			t.Error(err)
		}
	}
}

func newChaos(b backend) *chaos {
	p := b.prefix(b.t)
	c := &chaos{
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

func (c *chaos) newSession() string {
	id, _, err := c.api.Session().CreateNoChecks(&api.SessionEntry{Name: "chaos", LockDelay: time.Millisecond}, nil)
	if err != nil {
		c.t.Error(err)
	}
	return id
}

// write goes on until stop is closed.
func (c *chaos) write(r *rand.Rand, stop <-chan struct{}) {
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
func (c *chaos) commit(op *api.KVTxnOp) {
	after := &api.KVTxnOp{Verb: api.KVGetOrEmpty, Key: op.Key}
	// What is written and what is noted must not be told apart by another write.
	c.mu.Lock()
	defer c.mu.Unlock()
	ok, answer, _, err := c.api.Txn().Txn(api.TxnOps{{KV: op}, {KV: after}}, nil)
	if err != nil {
		c.t.Error(err)
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

func (c *chaos) kill(i int, session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions[i] != session {
		return
	}
	c.dead[session] = true
	if _, err := c.api.Session().Destroy(session, nil); err != nil {
		c.t.Error(err)
	}
	c.sessions[i] = c.newSession()
}

// actOnce has electop act on a key as it is now.
func (c *chaos) actOnce(op *Operator, r *rand.Rand, counts map[string]int) {
	pair := c.get(c.t, c.keys[r.IntN(len(c.keys))])
	if pair == nil || pair.Session == "" {
		counts["vacant"]++
		return
	}
	target, name := targetOf(toPair(pair)), "release"
	var err error
	if r.IntN(5) == 0 {
		name = "destroy"
		_, err = op.DestroySession(c.t.Context(), target)
		c.replace(target.Session, err == nil)
	} else {
		_, err = op.Release(c.t.Context(), target)
	}
	switch {
	case errors.Is(err, ErrMoved):
		name += " moved"
	case err != nil:
		c.t.Errorf("%s: %v", name, err)
	}
	counts[name]++
}

// replace takes a session that electop destroyed out of use.
func (c *chaos) replace(session string, destroyed bool) {
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

// releaseRecorder notes every release that Consul confirmed.
type releaseRecorder struct {
	next  http.RoundTripper
	chaos *chaos
	host  string
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
	rec.chaos.released(ops, result)
	return answer, nil
}

func (c *chaos) released(ops api.TxnOps, result api.TxnResponse) {
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

// judge compares what electop did with the record of all other writes.
func (c *chaos) judge() {
	free := map[string]uint64{} // by key: the latest release
	for _, u := range c.releases {
		before, known := c.writes[u.bound]
		if !known || before.Session != u.op.Session || before.Flags != u.op.Flags || !bytes.Equal(before.Value, u.op.Value) {
			c.t.Errorf("a release of %+v at index %d, where the key was %+v", u.op, u.bound, before)
		}
		for index, p := range c.writes {
			if p.Key == u.op.Key && index > u.bound && index < u.at {
				c.t.Errorf("a release at index %d ignored the write at %d", u.at, index)
			}
		}
		free[u.op.Key] = max(free[u.op.Key], u.at)
	}
	for _, key := range c.keys {
		now, last := c.get(c.t, key), c.writes[c.latest[key]]
		switch {
		case c.deleted[key]:
			if now != nil {
				c.t.Errorf("%s was deleted last and is %+v", key, now)
			}
		case now == nil || !bytes.Equal(now.Value, last.Value) || now.Flags != last.Flags:
			c.t.Errorf("%s was %+v and is %+v", key, last, now)
		case last.Session != "" && !c.dead[last.Session] && free[key] < last.ModifyIndex && now.Session != last.Session:
			c.t.Errorf("%s lost its holder %s", key, last.Session)
		}
	}
}
