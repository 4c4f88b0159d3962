package consulx

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/consultest"
)

func keysOf(pairs []election.Pair) []string {
	keys := make([]string, len(pairs))
	for i, p := range pairs {
		keys[i] = p.Key
	}
	slices.Sort(keys)
	return keys
}

func hasSession(all []*election.Session, id string) bool {
	return slices.ContainsFunc(all, func(s *election.Session) bool { return s.ID == id })
}

func TestSurvey(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.t
		p := b.prefix(t)
		s := b.session(t, &api.SessionEntry{Name: "web"})
		for _, key := range []string{"leader", "members/a b", "members/c?#%", "other"} {
			b.put(t, p+"web/"+key, "v")
		}
		b.put(t, p+"webby", "no sibling")
		b.acquire(t, api.KVPair{Key: p + "web/members/d", Session: s})
		found := Survey(t.Context(), b.client, p+"web/leader")
		want := []string{p + "web/members/a b", p + "web/members/c?#%", p + "web/members/d", p + "web/other"}
		if got := keysOf(found.Siblings); !slices.Equal(got, want) || found.SiblingsCut || found.SiblingsErr != "" {
			t.Fatalf("siblings %q, %+v", got, found.SiblingsErr)
		}
		if !hasSession(found.Sessions, s) || found.SessionsErr != "" || found.At.IsZero() || found.Key != p+"web/leader" {
			t.Fatalf("%d sessions, %q", len(found.Sessions), found.SessionsErr)
		}
		if found := Survey(t.Context(), b.client, "leader without parent"); found.Siblings != nil || found.SiblingsErr != "" {
			t.Fatalf("siblings of a key without parent: %+v", found)
		}
	})
}

// Keys that a URL can't name.
func TestSurveyOfOddKeys(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.t
		p := b.prefix(t) + "odd//../"
		var ops api.TxnOps
		for _, key := range []string{"leader", "x//y", "\x1b[2J"} {
			ops = append(ops, &api.TxnOp{KV: &api.KVTxnOp{Verb: api.KVSet, Key: p + key}})
		}
		if ok, r, _, err := b.api.Txn().Txn(ops, nil); err != nil || !ok {
			t.Fatal(ok, r, err)
		}
		found := Survey(t.Context(), b.client, p+"leader")
		if got := keysOf(found.Siblings); !slices.Equal(got, []string{p + "\x1b[2J", p + "x//y"}) || found.SiblingsErr != "" {
			t.Fatalf("siblings %q, %s", got, found.SiblingsErr)
		}
	})
}

func TestSurveyOfManySiblingsPrefersContenders(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.t
		p := b.prefix(t)
		s := b.session(t, &api.SessionEntry{})
		for i := range 3 {
			var ops api.TxnOps
			for j := range 40 {
				ops = append(ops, &api.TxnOp{KV: &api.KVTxnOp{Verb: api.KVSet, Key: fmt.Sprintf("%sa%d-%d", p, i, j)}})
			}
			if ok, r, _, err := b.api.Txn().Txn(ops, nil); err != nil || !ok {
				t.Fatal(ok, r, err)
			}
		}
		b.acquire(t, api.KVPair{Key: p + s, Session: s})
		b.acquire(t, api.KVPair{Key: p + "members/z", Session: s})
		found := Survey(t.Context(), b.client, p+".lock")
		got := keysOf(found.Siblings)
		if len(got) != txnReads || !found.SiblingsCut || !slices.Contains(got, p+s) || !slices.Contains(got, p+"members/z") {
			t.Fatalf("%d siblings, cut %t, %s", len(got), found.SiblingsCut, found.SiblingsErr)
		}
	})
}

func TestKeysThatVanishMeanwhileAreLeftOut(t *testing.T) {
	onBoth(t, func(b backend) {
		p := b.prefix(b.t)
		b.put(b.t, p+"here", "v")
		pairs, hidden, err := b.client.readPairs(b.t.Context(), []string{p + "gone", p + "here", p + "gone too"})
		if err != nil || hidden || !slices.Equal(keysOf(pairs), []string{p + "here"}) {
			b.t.Fatal(pairs, hidden, err)
		}
	})
}

func TestUUIDs(t *testing.T) {
	for text, want := range map[string]bool{
		"695bfbd0-6350-7587-addf-a18084928f3c": true, "695BFBD0-6350-7587-ADDF-A18084928F3C": true,
		"695bfbd0-6350-7587-addf-a18084928f3": false, "695bfbd0x6350-7587-addf-a18084928f3c": false,
		"695bfbd0-6350-7587-addf-a18084928f3g": false, "": false,
	} {
		if got := isUUID(text); got != want {
			t.Errorf("%q is a UUID: %t", text, got)
		}
	}
}

func TestStudyFollowsTheSelectedElection(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.t
		p := b.prefix(t)
		key := p + "web/leader"
		b.put(t, key, "v")
		b.put(t, p+"mail/leader", "v")
		board := observe(t, b.client, p+"*/leader")
		board.loaded()
		studied := func(key string, ok func(*election.Surroundings) bool) {
			t.Helper()
			board.until("the surroundings of "+key, func() bool {
				s := board.last.Surroundings
				return s != nil && s.Key == key && (ok == nil || ok(s))
			})
		}
		board.o.Study(key)
		studied(key, nil)
		s := b.session(t, &api.SessionEntry{})
		b.acquire(t, api.KVPair{Key: p + "web/" + s, Session: s})
		b.acquire(t, api.KVPair{Key: key, Session: s})
		studied(key, func(a *election.Surroundings) bool { return len(a.Siblings) == 1 && hasSession(a.Sessions, s) })
		board.o.Study(p + "mail/leader")
		studied(p+"mail/leader", nil)
		board.o.Study("")
	})
}

// counting counts the questions whose path begins with some text.
type counting struct {
	http.RoundTripper
	path string
	n    atomic.Int64
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.URL.Path, c.path) {
		c.n.Add(1)
	}
	return c.RoundTripper.RoundTrip(r)
}

func TestNothingIsStudiedUnlessAsked(t *testing.T) {
	c := &counting{path: "/v1/session/list", RoundTripper: tripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/v1/status/leader" {
			return answer(r, 200, 1, `"127.0.0.1:8300"`), nil
		}
		return answer(r, 200, 1, "[]"), nil
	})}
	o := NewObserver(over(t, c), ObserverOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	s := newStudy()
	go func() { s.happened([]election.Event{{Key: "a"}}); cancel() }()
	s.run(ctx, o)
	o.study.set("a")
	o.study.set("")
	o.sessionList.set(true)
	o.sessionList.set(false)
	ctx, cancel = context.WithCancel(t.Context())
	go cancel()
	o.study.run(ctx, o)
	if n := c.n.Load(); n != 0 {
		t.Fatalf("%d lists of all sessions", n)
	}
}

// The dearest question is not asked at every event.
func TestSessionsAreListedAtMostEveryTwoSeconds(t *testing.T) {
	c := &counting{path: "/v1/session/list", RoundTripper: tripper(func(r *http.Request) (*http.Response, error) {
		return answer(r, 200, 1, "[]"), nil
	})}
	o := NewObserver(over(t, c), ObserverOptions{})
	o.ended = true // nobody listens
	v := surveyor{o: o}
	v.visit(t.Context(), "leader")
	v.listedAt = time.Now().Add(time.Hour)
	v.last.At = time.Time{}
	if next := v.visit(t.Context(), "leader"); c.n.Load() != 1 || next > studyEvery {
		t.Fatalf("%d lists, next in %s", c.n.Load(), next)
	}
	v.listedAt, v.last.At = time.Now().Add(-time.Hour), time.Time{}
	if v.visit(t.Context(), "leader"); c.n.Load() != 2 {
		t.Fatalf("%d lists", c.n.Load())
	}
}

func TestStudyKeepsWhatItKnewWhenConsulIsSilent(t *testing.T) {
	fine := true
	o := NewObserver(over(t, tripper(func(r *http.Request) (*http.Response, error) {
		switch {
		case !fine:
			return nil, errors.New("broken")
		case r.URL.Path == "/v1/session/list":
			return answer(r, 200, 1, `[{"ID":"s"}]`), nil
		case r.URL.Path == "/v1/txn":
			return answer(r, 200, 1, `{"Results":[{"KV":{"Key":"a/x","Value":null}}]}`), nil
		}
		return answer(r, 200, 1, `["a/x","a/leader"]`), nil
	})), ObserverOptions{})
	o.ended = true
	v := surveyor{o: o}
	v.visit(t.Context(), "a/leader")
	fine = false
	v.last.At, v.listedAt = time.Time{}, time.Time{}
	v.visit(t.Context(), "a/leader")
	s := v.last
	if len(s.Siblings) != 1 || len(s.Sessions) != 1 || !strings.HasPrefix(s.SiblingsErr, "keys beside the election: ") || !strings.HasPrefix(s.SessionsErr, "sessions: ") {
		t.Fatalf("%+v", s)
	}
	v.last.At = time.Time{}
	if v.visit(t.Context(), "b/leader"); v.last.Siblings != nil {
		t.Fatalf("another election's siblings: %+v", v.last)
	}
}

func TestSessionListWhileItIsWatched(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.t
		p := b.prefix(t)
		first := b.session(t, &api.SessionEntry{Name: "first"})
		board := observe(t, b.client, p+"*/leader")
		board.loaded()
		if board.snapshot().SessionList != nil {
			t.Fatal("sessions were listed before anybody asked")
		}
		listed := func(id string, want bool) {
			t.Helper()
			board.until("the session list", func() bool {
				list := board.last.SessionList
				return list != nil && list.Err == "" && hasSession(list.Sessions, id) == want
			})
		}
		board.o.WatchSessions(true)
		listed(first, true)
		second := b.session(t, &api.SessionEntry{Name: "second"})
		listed(second, true)
		if seen := board.last.SessionList.FirstSeen; seen[first].Created || !seen[second].Created {
			t.Errorf("created while the sessions were watched: first %+v, second %+v", seen[first], seen[second])
		}
		if _, err := b.api.Session().Destroy(second, nil); err != nil {
			t.Fatal(err)
		}
		listed(second, false)
		since := board.last.SessionList.FirstSeen[first]
		board.o.WatchSessions(false)
		board.until("a list that is no longer current", func() bool { return !board.last.SessionList.Until.IsZero() })
		third := b.session(t, &api.SessionEntry{Name: "third"})
		board.o.WatchSessions(true)
		listed(third, true)
		list := board.last.SessionList
		if !list.Until.IsZero() || list.FirstSeen[first] != since || list.FirstSeen[third].Created {
			t.Errorf("until %v, first %+v instead of %+v, third %+v", list.Until, list.FirstSeen[first], since, list.FirstSeen[third])
		}
	})
}

func TestHoldings(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.t
		p := b.prefix(t)
		s, other := b.session(t, &api.SessionEntry{}), b.session(t, &api.SessionEntry{})
		for i := range 150 {
			b.put(t, fmt.Sprintf("%sk%d", p, i), "v")
		}
		for _, key := range []string{"a", "k7", "odd//key\x1b", "z/z"} {
			lock := api.TxnOps{{KV: &api.KVTxnOp{Verb: api.KVLock, Key: p + key, Session: s}}}
			if ok, r, _, err := b.api.Txn().Txn(lock, nil); err != nil || !ok {
				t.Fatal(ok, r, err)
			}
		}
		b.acquire(t, api.KVPair{Key: p + "other", Session: other})
		var done, total, calls int
		found, err := Holdings(t.Context(), b.client, []string{s}, func(d, n int) {
			if d < done {
				t.Errorf("%d keys after %d", d, done)
			}
			done, total = d, n
			calls++
		})
		want := []string{p + "a", p + "k7", p + "odd//key\x1b", p + "z/z"}
		if got := keysOf(found); err != nil || !slices.Equal(got, want) || done != total || total < 154 || calls < 3 {
			t.Fatalf("%q, %v; %d of %d in %d calls", got, err, done, total, calls)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if _, err = Holdings(ctx, b.client, []string{s}, func(int, int) { cancel() }); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped: %v", err)
		}
	})
}

func TestHoldingsUnderACLs(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	root := newBackend(t, Config{Address: agent.Addr(), Token: agent.Token()})
	s := root.session(t, &api.SessionEntry{})
	root.acquire(t, api.KVPair{Key: "seen/a", Session: s})
	root.acquire(t, api.KVPair{Key: "unseen/b", Session: s})
	for rules, want := range map[string]int{
		"": 0, `key_prefix "seen/" { policy = "read" }`: 1, `key_prefix "" { policy = "read" }`: 2,
	} {
		c := newClient(t, Config{Address: agent.Addr(), Token: makeToken(t, root, rules)})
		found, err := Holdings(t.Context(), c, []string{s}, nil)
		if len(found) != want || errors.Is(err, ErrIncomplete) != (want < 2) || want == 2 && err != nil {
			t.Errorf("with %q: %v, %v", rules, found, err)
		}
	}
}
