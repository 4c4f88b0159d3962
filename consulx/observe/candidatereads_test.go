package observe

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/internal/consultest"
)

func TestStudyFollowsTheSelectedElection(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix()
		key := p + "web/leader"
		b.Put(key, "v")
		b.Put(p+"mail/leader", "v")
		board := observe(t, b.Client, p+"*/leader")
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
		s := b.Session()
		b.Acquire(api.KVPair{Key: p + "web/" + s, Session: s})
		b.Acquire(api.KVPair{Key: key, Session: s})
		studied(key, func(a *election.Surroundings) bool { return len(a.Siblings) == 1 && hasSession(a.Sessions, s) })
		b.Destroy(s)
		ended := func(a *election.Surroundings) bool {
			return slices.ContainsFunc(a.Ended, func(e election.EndedSession) bool { return e.ID == s && !e.Seen.IsZero() })
		}
		studied(key, ended)
		board.o.Study(p + "mail/leader")
		studied(p+"mail/leader", ended)
		board.o.Study("")
	})
}

// An election that has lost its leader is marked once its candidates had time to retry, whether it is selected or not.
func TestAnElectionWithoutCandidatesIsMarked(t *testing.T) {
	f := &fakeConsul{}
	f.keys = func(_ int, asked string, r *http.Request) (int, int, string) {
		switch {
		case r.URL.Query().Has("keys"):
			return 200, 7, `["a/leader"]`
		case asked == "" || asked == "0":
			return 200, 7, strings.Replace(oneKey, "{", `{"Session":"s",`, 1)
		case asked == "7":
			return 200, 9, strings.Replace(oneKey, `"ModifyIndex":5`, `"ModifyIndex":9`, 1)
		}
		hang(r, waitOf(r))
		return 200, 9, strings.Replace(oneKey, `"ModifyIndex":5`, `"ModifyIndex":9`, 1)
	}
	for _, selected := range []string{"a/leader", "b/leader"} {
		inBubbleWith(t, f, Options{Patterns: patterns(t, "a/leader"), Wait: fakeWait}, func(b *board) {
			b.o.Study(selected)
			for _, want := range []bool{false, true} {
				pass(20 * time.Second)
				if e := b.o.Snapshot().Find("a/leader"); e == nil || e.Candidateless != want || e.State(time.Now()) != election.Vacant {
					t.Errorf("%+v, want %v", e, want)
				}
			}
		})
	}
}

// The most expensive read must not be repeated for every event.
func TestManySessionsAreListedAtMostEveryTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := New(over(t, consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
			return consultest.Answer(r, 200, 1, "[]"), nil
		})), Options{Patterns: consultest.Patterns(t)})
		start := time.Now()
		held := election.Pair{Key: "service/a/leader", Session: "s", LockIndex: 1, CreateIndex: 1, ModifyIndex: 1}
		o.Send(true, election.KeysRead{At: start, Range: election.KeyRange(held.Key), Pairs: election.Pairs(held)})
		v := study{o: o, listed: start, last: election.Surroundings{Sessions: slices.Repeat([]*election.Session{{ID: "s"}}, 10_000)}}
		next := v.visit(t.Context(), held.Key)
		urgent := v.visit(t.Context(), "leader")                                          // has no leader
		if next != 100*time.Second || urgent != 2*time.Second || v.last.Sessions == nil { // the user moves the cursor
			t.Errorf("the next list is read after %s and %s", next, urgent)
		}
		if v.visit(t.Context(), "leader"); time.Since(start) != 2*time.Second {
			t.Errorf("the next list was read after %s", time.Since(start))
		}
	})
}

// A blocked query whose token was revoked returns an empty list.
func TestEmptyListsMayBeThoseOfARevokedToken(t *testing.T) {
	o := New(newClient(t, consulx.Config{Address: "consul.test", Token: "t", Transport: consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
		return consultest.Answer(r, http.StatusForbidden, 0, "ACL not found"), nil
	})}), Options{})
	a := consulx.Answer{QueryMeta: &api.QueryMeta{}}
	q := &sessionsPoller{link: link{o: o}, last: []*election.Session{{ID: "s"}}, asked: true}
	if _, err := q.Accept(t.Context(), a); !consulx.IsDenied(err) {
		t.Errorf("error %v, want that of the second read", err)
	}
	k := &checkPoller{link: link{o: o}, node: "n", last: []election.Check{{ID: "c"}}, asked: true}
	if _, err := k.Accept(t.Context(), a); err != nil || o.Snapshot().Checks["n"].Err == "" {
		t.Errorf("%+v, %v; want an error instead of no checks", o.Snapshot().Checks, err)
	}
}

// No election is selected.
func TestIdleFollowsTheGracePeriod(t *testing.T) {
	f := &fakeConsul{list: `{"ID":"leads nothing"}`, keys: func(_ int, asked string, r *http.Request) (int, int, string) {
		if asked != "" {
			hang(r, waitOf(r))
		}
		return 200, 7, oneKey
	}}
	inBubble(t, f, func(b *board) {
		for _, want := range []election.State{election.Vacant, election.Idle} {
			pass(insight.IdleAfter * 3 / 4)
			if e := b.o.Snapshot().Elections[0]; e.State(time.Now()) != want {
				t.Error("not", want)
			}
		}
	})
}

func TestStudyKeepsItsDataWhenConsulDoesNotRespond(t *testing.T) {
	fine := true
	o := New(over(t, consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
		switch {
		case !fine:
			return nil, errors.New("broken")
		case r.URL.Path == "/v1/session/list":
			return consultest.Answer(r, 200, 1, `[{"ID":"s"}]`), nil
		case r.URL.Path == "/v1/txn":
			return consultest.Answer(r, 200, 1, `{"Results":[{"KV":{"Key":"a/x","Value":null}}]}`), nil
		}
		return consultest.Answer(r, 200, 1, `["a/x","a/leader"]`), nil
	})), Options{})
	v := study{o: o}
	v.visit(t.Context(), "a/leader")
	fine = false
	v.last.At = time.Time{}
	v.visit(t.Context(), "a/leader")
	s := v.last
	if len(s.Ended) > 0 {
		t.Errorf("ended: %v", s.Ended)
	}
	if len(s.Siblings) != 1 || len(s.Sessions) != 1 || !strings.HasPrefix(s.SiblingsErr, "sibling keys: ") || !strings.HasPrefix(s.SessionsErr, "sessions: ") {
		t.Fatalf("%+v", s)
	}
	v.last.At = time.Time{}
	if v.visit(t.Context(), "b/leader"); v.last.Siblings != nil {
		t.Fatalf("the surroundings contain the siblings of another election: %+v", v.last)
	}
}

func TestSessionListWhileItIsWatched(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix()
		first := b.Session(api.SessionEntry{Name: "first"})
		board := observe(t, b.Client, p+"*/leader")
		board.loaded()
		if board.snapshot().SessionList != nil {
			t.Fatal("the snapshot contains the session list, although no consumer requested it")
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
		second := b.Session(api.SessionEntry{Name: "second"})
		listed(second, true)
		if seen := board.snapshot().SessionList.FirstSeen; seen[first].Created || !seen[second].Created {
			t.Errorf("want Created only for the second session: first %+v, second %+v", seen[first], seen[second])
		}
		b.Destroy(second)
		listed(second, false)
		since := board.snapshot().SessionList.FirstSeen[first]
		board.o.WatchSessions(false)
		board.until("a list that is no longer current", func() bool { return !board.last.SessionList.Until.IsZero() })
		third := b.Session(api.SessionEntry{Name: "third"})
		board.o.WatchSessions(true)
		listed(third, true)
		list := board.snapshot().SessionList
		if !list.Until.IsZero() || list.FirstSeen[first] != since || list.FirstSeen[third].Created {
			t.Errorf("Until %v, first session %+v, want %+v; third session %+v", list.Until, list.FirstSeen[first], since, list.FirstSeen[third])
		}
	})
}
