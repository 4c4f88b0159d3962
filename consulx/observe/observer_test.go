package observe

import (
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
)

func TestObserverReportsTermsInOrder(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		key := p + "web/leader"
		first := b.Session(t, &api.SessionEntry{Name: "web-1"})
		b.Acquire(t, api.KVPair{Key: key, Value: []byte(`{"Node":"web-1"}`), Session: first})
		board := observePatiently(t, b.client, p+"*/leader")
		e, n := board.event(0, election.Elected, key)
		if !e.Initial || e.Election != "web" || e.Leader != "web-1" || e.Node != b.Node || e.Datacenter != "dc1" {
			t.Fatalf("the first event is %+v, want an initial event with leader web-1 of election web on node %s", e, b.Node)
		}
		if ok, _, err := b.API.KV().Release(&api.KVPair{Key: key, Value: []byte("x"), Session: first}, nil); !ok || err != nil {
			t.Fatal(ok, err)
		}
		_, n = board.event(n, election.Vacated, key)
		e, n = board.event(n, election.Explained, key)
		if e.Cause != election.Released {
			t.Fatalf("the cause of a release is %s: %s; want %s", e.Cause, e.Evidence, election.Released)
		}
		second := b.Session(t, &api.SessionEntry{Name: "web-2"})
		b.Acquire(t, api.KVPair{Key: key, Value: []byte("web-2"), Session: second})
		e, n = board.event(n, election.Elected, key)
		if e.Initial || e.Leader != "web-2" || e.Node != b.Node || !e.VacancyKnown || e.Term != 2 {
			t.Fatalf("the event of the second term is %+v, want leader web-2 in term 2 after a known vacancy", e)
		}
		if _, err := b.API.Session().Destroy(second, nil); err != nil {
			t.Fatal(err)
		}
		_, n = board.event(n, election.Vacated, key)
		if e, _ = board.event(n, election.Explained, key); e.Cause != election.SessionDestroyed {
			t.Fatalf("the cause of a destroy is %s: %s; want %s", e.Cause, e.Evidence, election.SessionDestroyed)
		}
	})
}

func TestObserverWatchesManyPatterns(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		keys := []string{p + "a/x/leader", p + "b/deep/down/leader", p + "exact", p + "c/later/.lock", p + "exact2"}
		s := b.Session(t, &api.SessionEntry{Name: "s"})
		b.Acquire(t, api.KVPair{Key: keys[0], Session: s})
		b.Acquire(t, api.KVPair{Key: keys[2], Session: s})
		b.Put(t, p+"a/x/other", "no election")
		board := observe(t, b.client, p+"a/*/leader", "/"+p+"b/**/leader", p+"exact", p+"c/**/.lock", p+"exact2")
		board.loaded()
		_, n := board.event(0, election.Elected, keys[0])
		_, _ = board.event(0, election.Elected, keys[2])
		for _, key := range []string{keys[1], keys[3], keys[4]} {
			b.Acquire(t, api.KVPair{Key: key, Session: s})
			_, _ = board.event(n, election.Elected, key)
		}
		for _, key := range keys {
			if _, err := b.API.KV().Delete(key, nil); err != nil {
				t.Fatal(err)
			}
			e, _ := board.event(n, election.Explained, key)
			if e.Cause != election.KeyDeleted {
				t.Fatalf("%s: cause %s, %s", key, e.Cause, e.Evidence)
			}
		}
		if all := board.of(p + "a/x/other"); all != nil {
			t.Fatalf("a key that no pattern matches has the events %+v, want none", all)
		}
	})
}

func TestEveryTermIsReportedOnce(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		key := p + "web/leader"
		s := b.Session(t, &api.SessionEntry{Name: "s"})
		board := observe(t, b.client, p+"*/leader")
		board.loaded()
		n := 0
		for i := range 20 {
			b.Acquire(t, api.KVPair{Key: key, Session: s, Value: []byte{byte('a' + i)}})
			_, n = board.event(n, election.Elected, key)
			if ok, _, err := b.API.KV().Release(&api.KVPair{Key: key, Session: s}, nil); err != nil || !ok {
				t.Fatal(ok, err)
			}
			_, n = board.event(n, election.Vacated, key)
		}
		elected := 0
		for _, e := range board.of(key) {
			if e.Type == election.Elected {
				elected++
			}
		}
		if elected != 20 {
			t.Fatalf("%d terms were reported, want 20", elected)
		}
	})
}

func TestObserverReadsManySessionsAtOnce(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		for i := range consulx.ManySessions + 10 {
			s := b.Session(t, &api.SessionEntry{Name: "many"})
			b.Acquire(t, api.KVPair{Key: p + string(rune('A'+i)) + "/leader", Session: s})
		}
		board := observe(t, b.client, p+"*/leader")
		board.until("every session", func() bool {
			return len(board.last.Elections) == consulx.ManySessions+10 &&
				!slices.ContainsFunc(board.last.Elections, func(e *election.Election) bool { return e.Session == nil })
		})
	})
}

func TestWatchChecks(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		check := "check-" + strings.ReplaceAll(b.Prefix(t), "/", "-")
		registration := &api.AgentCheckRegistration{
			ID: check, Name: check, AgentServiceCheck: api.AgentServiceCheck{TTL: "1h", Status: api.HealthPassing},
		}
		if err := b.API.Agent().CheckRegister(registration); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.API.Agent().CheckDeregister(check) })
		board := observe(t, b.client, "nothing/here")
		board.o.WatchChecks([]string{b.Node, b.Node, ""})
		status := func(want string) func() bool {
			return func() bool {
				return slices.ContainsFunc(board.last.Checks[b.Node].Checks,
					func(c election.Check) bool { return c.ID == check && c.Status == want })
			}
		}
		board.until("a passing check", status(election.StatusPassing))
		if err := b.API.Agent().UpdateTTL(check, "broken", api.HealthCritical); err != nil {
			t.Fatal(err)
		}
		board.until("a critical check", status(election.StatusCritical))
		for range 3 {
			board.o.WatchChecks(nil)
			board.until("checks that are no longer current", func() bool {
				return !board.last.Checks[b.Node].Until.IsZero() && status(election.StatusCritical)()
			})
			board.o.WatchChecks([]string{b.Node})
			board.until("checks that are current", func() bool {
				return board.last.Checks[b.Node].Current() && status(election.StatusCritical)()
			})
		}
	})
}

func TestOperatorActionIsTheCause(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		board := observe(t, b.client, p+"*/leader")
		op := consulx.NewOperator(b.client, board.o.Note)
		for i, act := range []func(election.Target) error{
			func(target election.Target) error { return op.Release(t.Context(), target) },
			func(target election.Target) error {
				return op.DestroySession(t.Context(), election.Destroy{Target: target, Unsearched: true})
			},
		} {
			key := p + string(rune('a'+i)) + "/leader"
			s := b.Session(t, &api.SessionEntry{Name: "s"})
			b.Acquire(t, api.KVPair{Key: key, Session: s, Value: []byte("me")})
			board.until("the election", func() bool {
				return board.last.Find(election.KeyID(key)) != nil && board.last.Find(election.KeyID(key)).Session != nil
			})
			if err := act(board.snapshot().Find(election.KeyID(key)).Target()); err != nil {
				t.Fatal(err)
			}
			e, _ := board.event(0, election.Explained, key)
			if want := []election.Cause{election.OperatorRelease, election.OperatorDestroy}[i]; e.Cause != want {
				t.Fatalf("cause %s (%s), want %s", e.Cause, e.Evidence, want)
			}
		}
	})
}

// TestLatency logs the time from the end of a write to the event. The time does not affect the result of the test.
func TestLatency(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		key := p + "web/leader"
		s := b.Session(t, &api.SessionEntry{Name: "s"})
		board := observe(t, b.client, p+"*/leader")
		board.loaded()
		var took []time.Duration
		n := 0
		for i := range 200 {
			kind := election.Elected
			if i%2 == 0 {
				b.Acquire(t, api.KVPair{Key: key, Session: s})
			} else {
				kind = election.Vacated
				if _, _, err := b.API.KV().Release(&api.KVPair{Key: key, Session: s}, nil); err != nil {
					t.Fatal(err)
				}
			}
			written := time.Now()
			_, n = board.event(n, kind, key)
			took = append(took, board.toldAt(n-1).Sub(written))
		}
		sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
		t.Logf("PUT to event: p50 %s, p99 %s, max %s", took[100], took[197], took[199])
	})
}
