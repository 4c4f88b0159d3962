package observe

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/internal/consultest"
)

// longDelay is the environment variable that enables the measurement of the longest lock-delay, which takes a minute.
const longDelay = "ELECTOP_LONG_DELAY"

// retryEvery is the interval between two attempts of the waiting candidate.
const retryEvery = 20 * time.Millisecond

// entered contains the start of the last rejected acquire and the end of the successful one.
type entered struct{ refused, led time.Time }

// wait retries the acquire until Consul accepts it.
func (p *trial) wait(t *testing.T, session string) entered {
	t.Helper()
	ticker := time.NewTicker(retryEvery)
	defer ticker.Stop()
	var e entered
	for deadline := time.Now().Add(patience + election.MaxLockDelay); time.Now().Before(deadline); <-ticker.C {
		start := time.Now()
		ok, _, err := p.API.KV().Acquire(&api.KVPair{Key: p.key, Session: session}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			e.led = time.Now()
			return e
		}
		e.refused = start
	}
	t.Fatal("timeout: the candidate did not acquire the key")
	return e
}

func TestLockDelayEstimate(t *testing.T) {
	t.Parallel()
	delays := []time.Duration{time.Second, 5 * time.Second, 15 * time.Second}
	if os.Getenv(longDelay) != "" {
		delays = append(delays, 90*time.Second)
	}
	rows := make([]string, len(delays))
	t.Run("all", func(t *testing.T) {
		for i, delay := range delays {
			t.Run(delay.String(), func(t *testing.T) {
				t.Parallel()
				rows[i] = estimate(t, delay)
			})
		}
	})
	record(t, "lock-delay", "| lock-delay of the session | enforced | first successful acquire, relative to the estimate |\n| --- | --- | --- |\n"+
		strings.Join(rows, ""))
}

// estimate measures one lock-delay and returns a row of the table.
func estimate(t *testing.T, delay time.Duration) string {
	t.Helper()
	back := newBackend(t, consulx.Config{Address: consultest.Shared(t).Addr()})
	prefix := back.Prefix(t)
	b := observe(t, back.client, prefix+"*/leader")
	b.loaded()
	p := &trial{backend: back, key: prefix + "web/leader"}
	p.session = back.Session(t, &api.SessionEntry{LockDelay: delay})
	next := back.Session(t, &api.SessionEntry{})
	back.Acquire(t, api.KVPair{Key: p.key, Session: p.session})
	_, n := b.event(0, election.Elected, p.key)
	b.until("its session", func() bool {
		e := b.last.Find(election.KeyID(p.key))
		return e != nil && e.Session != nil
	})
	if err := p.destroy(); err != nil {
		t.Fatal(err)
	}
	why, _ := b.event(n, election.Explained, p.key)
	e := p.wait(t, next)
	until := why.LockDelayUntil
	// slack allows for a slow machine, on which the measurement is less precise.
	const slack = time.Second
	if until.IsZero() || until.Before(e.refused.Add(-slack)) || until.After(e.led.Add(slack)) {
		t.Errorf("the estimated end is %s; want a time between the last rejected acquire at %s and the first accepted one at %s", until, e.refused, e.led)
	}
	return fmt.Sprintf("| %s | %s | %+.1f ms |\n", delay, min(delay, election.MaxLockDelay),
		float64(e.led.Sub(until))/float64(time.Millisecond))
}

func TestNoLockDelayAfterARelease(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		key := b.Prefix(t) + "web/leader"
		board := observe(t, b.client, key)
		board.loaded()
		s := b.Session(t, &api.SessionEntry{LockDelay: time.Minute})
		b.Acquire(t, api.KVPair{Key: key, Session: s})
		_, n := board.event(0, election.Elected, key)
		if _, _, err := b.API.KV().Release(&api.KVPair{Key: key, Session: s}, nil); err != nil {
			t.Fatal(err)
		}
		why, _ := board.event(n, election.Explained, key)
		board.until("the cause on the board", func() bool {
			e := board.last.Find(election.KeyID(key))
			return e != nil && e.LastTerm() != nil && e.LastTerm().Cause == election.Released
		})
		e := board.snapshot().Find(election.KeyID(key))
		if !why.LockDelayUntil.IsZero() || e.State(time.Now()) != election.Vacant {
			t.Fatalf("explained event %+v, state %s; want no lock-delay", why, e.State(time.Now()))
		}
		found, err := consulx.ProbeLockDelay(t.Context(), b.client, key)
		if err != nil || found.State != consulx.LockFree {
			t.Fatal(found, err)
		}
	})
}

func TestProbeLockDelay(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		last := uint64(0)
		want := func(key string, want consulx.ProbeResult) {
			t.Helper()
			before, _, err := b.API.KV().List(p, nil)
			if err != nil {
				t.Fatal(err)
			}
			found, err := consulx.ProbeLockDelay(t.Context(), b.client, key)
			if err != nil || found != want {
				t.Fatalf("%s: %+v, %v", key, found, err)
			}
			after, meta, err := b.API.KV().List(p, nil)
			if err != nil || !samePairs(before, after) || meta.LastIndex < last {
				t.Fatalf("%s: the probe changed %v to %v, error %v; want no change", key, before, after, err)
			}
			last = meta.LastIndex
		}
		want(p+"missing", consulx.ProbeResult{State: consulx.LockFree})
		b.Put(t, p+"free", "v")
		want(p+"free", consulx.ProbeResult{State: consulx.LockFree, Exists: true})
		kept := b.Session(t, &api.SessionEntry{LockDelay: time.Minute})
		b.Acquire(t, api.KVPair{Key: p + "held", Session: kept})
		want(p+"held", consulx.ProbeResult{State: consulx.LockHeld, Exists: true, Session: kept})
		for _, behavior := range []string{api.SessionBehaviorRelease, api.SessionBehaviorDelete} {
			s := b.Session(t, &api.SessionEntry{LockDelay: time.Minute, Behavior: behavior})
			key := p + "delayed by " + behavior
			b.Acquire(t, api.KVPair{Key: key, Session: s})
			if _, err := b.API.Session().Destroy(s, nil); err != nil {
				t.Fatal(err)
			}
			want(key, consulx.ProbeResult{State: consulx.LockDelayed, Exists: behavior == api.SessionBehaviorRelease})
		}
	})
}

func samePairs(a, b api.KVPairs) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Key != b[i].Key || a[i].ModifyIndex != b[i].ModifyIndex || a[i].LockIndex != b[i].LockIndex ||
			a[i].Session != b[i].Session || string(a[i].Value) != string(b[i].Value) {
			return false
		}
	}
	return true
}

// When the session of a Patroni leader ends, Consul deletes the leader key and the member key. A replica then creates
// the leader key again.
func TestPatroniFailovers(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		prefix := b.Prefix(t)
		key := prefix + "batman/leader"
		join := func(member string) string {
			s := b.Session(t, &api.SessionEntry{Name: "batman-" + member, Behavior: api.SessionBehaviorDelete, TTL: "15s"})
			b.Acquire(t, api.KVPair{Key: prefix + "batman/members/" + member, Session: s, Value: []byte(`{"role":"replica"}`)})
			return s
		}
		b.Put(t, prefix+"batman/config", "{}")
		sessions := map[string]string{"pg-0": join("pg-0"), "pg-1": join("pg-1"), "pg-2": join("pg-2")}
		board := observe(t, b.client, prefix+"*/leader")
		board.loaded()
		board.o.Study(key)
		b.Acquire(t, api.KVPair{Key: key, Session: sessions["pg-0"], Value: []byte("pg-0")})
		_, n := board.event(0, election.Elected, key)
		first := n
		const failovers = 6
		for i := range failovers {
			old, next := fmt.Sprint("pg-", i%3), fmt.Sprint("pg-", (i+1)%3)
			if _, err := b.API.Session().Destroy(sessions[old], nil); err != nil {
				t.Fatal(err)
			}
			b.Acquire(t, api.KVPair{Key: key, Session: sessions[next], Value: []byte(next)})
			e, after := board.event(n, election.Elected, key)
			if n = after; e.Leader != next || e.Term != 1 {
				t.Fatalf("failover %d: %+v", i, e)
			}
			sessions[old] = join(old)
		}
		board.until("an explanation of each", func() bool { return countOf(board.events[first:], key, election.Explained) == failovers })
		for _, kind := range []election.EventType{election.Vacated, election.Elected, election.Deleted} {
			if got := countOf(board.events[first:], key, kind); got != failovers {
				t.Errorf("%d failovers caused %d events of the type %s, want one each", failovers, got, kind)
			}
		}
		patroniSurroundings(t, board, key, sessions["pg-1"], sessions["pg-2"])
	})
}

// patroniSurroundings waits until both replicas are candidates.
func patroniSurroundings(t *testing.T, board *board, key string, replicas ...string) {
	t.Helper()
	board.until("both replicas as candidates", func() bool {
		s, e := board.last.Surroundings, board.last.Find(election.KeyID(key))
		if s == nil || e == nil || s.Key != key {
			return false
		}
		found := map[string]bool{}
		for _, c := range insight.Candidates(e, s, board.last.Elections) {
			found[c.Session.ID] = strings.Contains(c.Reason, "/members/")
		}
		return found[replicas[0]] && found[replicas[1]]
	})
	s := board.snapshot()
	e := s.Find(election.KeyID(key))
	if software := insight.DetectSoftware(e, s.Surroundings); software == nil || software.Name != "Patroni" {
		t.Errorf("the software was identified as %+v, want Patroni", software)
	}
	if e.Term != 1 || e.Leader != "pg-0" {
		t.Errorf("the leader is %s in term %d, want pg-0 in term 1", e.Leader, e.Term)
	}
}

func countOf(events []election.Event, key string, kind election.EventType) int {
	n := 0
	for _, e := range events {
		if e.Key == key && e.Type == kind && !e.Initial {
			n++
		}
	}
	return n
}

// Several measurements write into the same file.
func TestRecordKeepsPartialLines(t *testing.T) {
	path := t.TempDir() + "/endings.md"
	text := "a\n<!-- one -->\nold\n<!-- end of one -->\nb\n<!-- two -->\n<!-- end of two -->\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(endingsOut, path)
	var wg sync.WaitGroup
	for _, name := range []string{"one", "two"} {
		wg.Go(func() { record(t, name, "new "+name+"\n") })
	}
	wg.Wait()
	got, err := os.ReadFile(path)
	want := "a\n<!-- one -->\nnew one\n<!-- end of one -->\nb\n<!-- two -->\nnew two\n<!-- end of two -->\n"
	if err != nil || string(got) != want {
		t.Fatalf("got %q, %v", got, err)
	}
}

// A recursive delete above a watched prefix does not always end the query for that prefix. The wait of the query
// limits the time until the change is detected.
func TestDeletesAboveAWatchedPrefixAreNoticed(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		key := p + "deep/down/web/leader"
		s := b.Session(t, &api.SessionEntry{})
		b.Acquire(t, api.KVPair{Key: key, Session: s})
		board := observeWith(t, b.client, Options{Patterns: patterns(t, p+"deep/down/*/leader"), Wait: time.Second})
		board.loaded()
		_, n := board.event(0, election.Elected, key)
		if _, err := b.API.KV().DeleteTree(p, nil); err != nil {
			t.Fatal(err)
		}
		if e, _ := board.event(n, election.Explained, key); e.Cause != election.KeyDeleted {
			t.Fatalf("%s: %s", e.Cause, e.Evidence)
		}
	})
}
