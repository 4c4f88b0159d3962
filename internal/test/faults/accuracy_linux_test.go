package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

const (
	// accuracyElections is the number of elections. In each of them, about every two seconds, a failover occurs.
	accuracyElections = 20
	// accurate is the maximum difference between a time in the history and in the log of the writes.
	accurate = 20 * time.Millisecond
)

// loggedTerm is a term according to the program that wrote the key.
type loggedTerm struct {
	termKey
	// began and ended are when the responses to the writes arrived. If Consul ended the term without a write, ended
	// is when a separate query for the key returned.
	began, ended time.Time
	how          string
}

type termKey struct {
	key, session string
	number       uint64
}

// TestRecordedTermsMatchTheWrites causes failovers of all kinds. Every term must be recorded or counted as missed.
// `make accuracy ACCURACY=1h` sets the duration. Only with this variable do differences in time fail the test.
func TestRecordedTermsMatchTheWrites(t *testing.T) {
	t.Parallel()
	length, asked := 5*time.Second, os.Getenv("ACCURACY")
	if asked != "" {
		var err error
		if length, err = time.ParseDuration(asked); err != nil {
			t.Fatal(err)
		}
	}
	agent := consultest.Server(t)
	file := filepath.Join(t.TempDir(), "h.db")
	r := record(t, file, "--http-addr", agent.Addr())
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var all sync.WaitGroup
	var stalls stallLog
	all.Go(func() { stalls.run(ctx) })
	control := newControl(agent.Client())
	watching, stopWatching := context.WithCancel(t.Context())
	var watched sync.WaitGroup
	watched.Go(func() { control.run(watching) })
	elections := make([]*failovers, accuracyElections)
	for i := range elections {
		f := newFailovers(t, agent.Client(), i)
		elections[i] = f
		all.Go(func() { f.run(ctx) })
	}
	all.Wait()
	var logged []loggedTerm
	for _, f := range elections {
		logged = append(logged, f.terms...)
	}
	awaitRecorded(t, file, logged)
	r.stop()
	stopWatching()
	watched.Wait()
	compareTimes(t, file, logged, &stalls, control, asked != "")
}

// failovers is one election with one candidate. Its terms end in random ways.
type failovers struct {
	t      *testing.T
	client *api.Client
	rng    *rand.Rand
	key    string
	node   string
	terms  []loggedTerm
}

func newFailovers(t *testing.T, client *api.Client, n int) *failovers {
	return &failovers{
		t: t, client: client, rng: rand.New(rand.NewPCG(uint64(n), 7)),
		key: fmt.Sprintf("service/accuracy-%02d/leader", n), node: fmt.Sprintf("node-of-%02d", n),
	}
}

// run begins and ends terms until ctx ends, and then ends the last term.
func (f *failovers) run(ctx context.Context) {
	for ctx.Err() == nil {
		how := f.chooseEnding()
		term, ok := f.acquire(ctx, f.open(how))
		if !ok {
			break
		}
		term.how = how
		if how != "ttl" {
			f.pause(context.WithoutCancel(ctx), 150*time.Millisecond, 3*time.Second) // an observer may miss a shorter term
		}
		f.end(&term)
		f.terms = append(f.terms, term)
		f.pause(ctx, 0, time.Second)
	}
}

// chooseEnding returns how the next term ends. A session with a TTL expires after 20 s, twice its TTL.
func (f *failovers) chooseEnding() string {
	switch n := f.rng.IntN(40); {
	case n == 0:
		return "ttl"
	case n < 14:
		return "release"
	case n < 24:
		return "destroy"
	case n < 34:
		return "critical"
	case n < 37:
		return "deregister"
	}
	return "delete"
}

func (f *failovers) must(err error) {
	if err != nil {
		f.t.Error(err)
	}
}

func (f *failovers) pause(ctx context.Context, least, most time.Duration) {
	timer := time.NewTimer(least + time.Duration(f.rng.Int64N(int64(most-least))))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// register registers the node, with a check that has this status.
func (f *failovers) register(status string) {
	_, err := f.client.Catalog().Register(&api.CatalogRegistration{
		Node: f.node, Address: "127.0.0.1", Check: &api.AgentCheck{Node: f.node, CheckID: "alive", Name: "alive", Status: status},
	}, nil)
	f.must(err)
}

// open creates a session that can end in the chosen way.
func (f *failovers) open(how string) string {
	s := &api.SessionEntry{Name: f.key, Node: f.node, NodeChecks: []string{"alive"}, LockDelay: time.Millisecond}
	if f.rng.IntN(10) == 0 {
		s.LockDelay = time.Second
	}
	if how == "ttl" {
		s.TTL = "10s"
	}
	f.register(api.HealthPassing)
	id, _, err := f.client.Session().Create(s, nil)
	f.must(err)
	return id
}

// acquire begins a term after the lock-delay of the previous term.
func (f *failovers) acquire(ctx context.Context, session string) (loggedTerm, bool) {
	for ctx.Err() == nil && session != "" {
		ok, response, _, err := f.client.Txn().Txn(api.TxnOps{{KV: &api.KVTxnOp{
			Verb: api.KVLock, Key: f.key, Session: session, Value: []byte(session),
		}}}, nil)
		at := time.Now()
		f.must(err)
		if ok {
			return loggedTerm{termKey: termKey{f.key, session, response.Results[0].KV.LockIndex}, began: at}, true
		}
		f.pause(ctx, time.Millisecond, 20*time.Millisecond)
	}
	return loggedTerm{}, false
}

// end ends a term and records when the response arrived.
func (f *failovers) end(t *loggedTerm) {
	var err error
	switch t.how {
	case "release":
		_, _, err = f.client.KV().Release(&api.KVPair{Key: t.key, Session: t.session, Value: []byte("x")}, nil)
	case "destroy":
		_, err = f.client.Session().Destroy(t.session, nil)
	case "critical":
		f.register(api.HealthCritical)
	case "deregister":
		_, err = f.client.Catalog().Deregister(&api.CatalogDeregistration{Node: f.node}, nil)
	case "delete":
		_, err = f.client.KV().Delete(t.key, nil)
	case "ttl":
		err = f.awaitEnd(t.key)
	}
	t.ended = time.Now()
	f.must(err)
}

// awaitEnd waits until Consul has released the key.
func (f *failovers) awaitEnd(key string) error {
	options := &api.QueryOptions{WaitTime: 30 * time.Second}
	for range 10 {
		pair, meta, err := f.client.KV().Get(key, options)
		if err != nil || pair == nil || pair.Session == "" {
			return err
		}
		options.WaitIndex = meta.LastIndex
	}
	return errors.New("the key was not released in time")
}

// awaitRecorded waits until the history contains the end of the latest term of each key.
func awaitRecorded(t *testing.T, file string, logged []loggedTerm) {
	t.Helper()
	last := map[string]termKey{}
	for _, l := range logged {
		last[l.key] = l.termKey
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; <-tick.C {
		waiting := len(last)
		for _, r := range recordedTerms(t, file) {
			if last[r.Key] == (termKey{r.Key, r.Session, r.Term}) && !r.To.IsZero() && r.Cause != "" {
				waiting--
			}
		}
		if waiting == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the latest ends of %d elections were not recorded in time", waiting)
		}
	}
}

// compareTimes compares the history with the log. With strict, a difference of more than 20 ms fails the test, unless
// the control query of this process was also late.
func compareTimes(t *testing.T, file string, logged []loggedTerm, stalls *stallLog, control *control, strict bool) {
	t.Helper()
	recorded := map[termKey][]recordedTerm{}
	for _, r := range recordedTerms(t, file) {
		k := termKey{r.Key, r.Session, r.Term}
		recorded[k] = append(recorded[k], r)
	}
	missed := uint64(0)
	for _, e := range historyLines[struct{ Count uint64 }](t, file, "--type", "missed") {
		missed += e.Count
	}
	var calm, disturbed [3]differences
	unrecorded := uint64(0)
	for i := range logged {
		l := &logged[i]
		same := recorded[l.termKey]
		if len(same) > 1 {
			t.Errorf("%d records of %+v", len(same), l)
		}
		if len(same) == 0 {
			unrecorded++
			continue
		}
		r, next := &same[0], nextOf(logged, i)
		to := &calm
		if stalls.within(l.began) || stalls.within(l.ended) || control.late(l) || next != nil && (stalls.within(next.began) || control.late(next)) {
			to = &disturbed
		}
		to[0].add(r.From.Sub(l.began), l)
		to[1].add(r.To.Sub(l.ended), l)
		if next != nil && r.Vacancy != nil && len(recorded[next.termKey]) == 1 {
			to[2].add(time.Duration(*r.Vacancy*float64(time.Second))-next.began.Sub(l.ended), l)
		}
	}
	for _, l := range logged {
		delete(recorded, l.termKey)
	}
	for k := range recorded {
		t.Errorf("a recorded term is not in the log: %+v", k)
	}
	if unrecorded > missed {
		t.Errorf("%d terms are not recorded, but only %d are counted as missed", unrecorded, missed)
	}
	t.Logf("%d terms in the log, %d not recorded, %d counted as missed", len(logged), unrecorded, missed)
	for i, what := range []string{"begin", "end", "vacancy"} {
		t.Logf("%-8s %s", what, calm[i].String())
		t.Logf("%-8s %s (while this process or Consul stalled)", what, disturbed[i].String())
		if strict && calm[i].most > accurate {
			t.Errorf("%s: a difference above %s: %+v", what, accurate, calm[i].worst)
		}
	}
}

// nextOf returns the next term of the same key, or nil if there is none. The terms of a key are adjacent in the log.
func nextOf(logged []loggedTerm, i int) *loggedTerm {
	if i+1 < len(logged) && logged[i+1].key == logged[i].key {
		return &logged[i+1]
	}
	return nil
}

// differences contains the absolute differences between the times in the history and in the log.
type differences struct {
	all   []time.Duration
	most  time.Duration
	worst *loggedTerm
}

func (d *differences) add(by time.Duration, of *loggedTerm) {
	by = by.Abs()
	if by > d.most {
		d.most, d.worst = by, of
	}
	d.all = append(d.all, by)
}

func (d *differences) String() string {
	above := 0
	for _, by := range d.all {
		if by > accurate {
			above++
		}
	}
	return fmt.Sprintf("p50 %v, p99 %v, max %v; %d of %d above %v", part(d.all, 50), part(d.all, 99), part(d.all, 100), above, len(d.all), accurate)
}

// stallLog contains the periods in which the kernel did not schedule this process. Times that were logged in these
// periods are wrong.
type stallLog struct{ all []period }

func (s *stallLog) run(ctx context.Context) {
	const every, late = 2 * time.Millisecond, 10 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	for before := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		if now.Sub(before) > late {
			s.all = append(s.all, period{start: before, end: now})
		}
		before = now
	}
}

// within reports whether a time is in or near such a period.
func (s *stallLog) within(at time.Time) bool {
	const reach = 20 * time.Millisecond
	return slices.ContainsFunc(s.all, func(p period) bool { return at.After(p.start.Add(-reach)) && at.Before(p.end.Add(reach)) })
}

// control is a blocking query for all keys in this process. If the control is also late, Consul or the machine caused
// the delay, not electop.
type control struct {
	client *api.Client
	held   map[string]termKey // by key
	began  map[termKey]time.Time
	ended  map[termKey]time.Time
}

func newControl(client *api.Client) *control {
	return &control{client: client, held: map[string]termKey{}, began: map[termKey]time.Time{}, ended: map[termKey]time.Time{}}
}

func (c *control) run(ctx context.Context) {
	options := (&api.QueryOptions{WaitTime: time.Minute}).WithContext(ctx)
	for ctx.Err() == nil {
		pairs, meta, err := c.client.KV().List("service/", options)
		if err != nil {
			continue
		}
		at, held := time.Now(), map[string]termKey{}
		for _, p := range pairs {
			if p.Session != "" {
				held[p.Key] = termKey{p.Key, p.Session, p.LockIndex}
			}
		}
		for key, term := range held {
			if c.held[key] != term {
				c.began[term] = at
			}
		}
		for key, term := range c.held {
			if held[key] != term {
				c.ended[term] = at
			}
		}
		c.held = held
		options.WaitIndex = meta.LastIndex
	}
}

// late reports whether the control query returned a term late or not at all.
func (c *control) late(l *loggedTerm) bool {
	const late = accurate / 2
	return c.began[l.termKey].Sub(l.began).Abs() > late || c.ended[l.termKey].Sub(l.ended).Abs() > late
}
