package consulx

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/consultest"
)

func find(t *testing.T, c *Client, texts ...string) NearbyLocks {
	return findOther(t, c, nil, texts...)
}

func findOther(t *testing.T, c *Client, skip func(key string) bool, texts ...string) NearbyLocks {
	t.Helper()
	ps, err := election.ParsePatterns(texts)
	if err != nil {
		t.Fatal(err)
	}
	n, err := FindNearby(t.Context(), c, ps, skip)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNearbyLocksAreFoundNearestFirst(t *testing.T) {
	b := newBackend(t, Config{Address: consultest.Dev(t).Addr()})
	if n := find(t, b.client, "service/*/leader"); n.Readable || n.Hidden || !n.Complete || len(n.Locked) != 0 {
		t.Errorf("the search of an empty store returned %+v, want a complete result without locks", n)
	}
	s := b.Session(t, &api.SessionEntry{})
	for _, key := range []string{"vault/core/lock", "service/web/lock", "services/api/leader"} {
		b.Acquire(t, api.KVPair{Key: key, Session: s})
	}
	b.Acquire(t, api.KVPair{Key: "batch/slots/" + s, Session: s, Flags: election.SemaphoreFlag})
	b.Put(t, "batch/slots/.lock", "{}")
	b.Put(t, "service/web/config", "{}")
	want := []string{"service/web/lock", "services/api/leader", "batch/slots/.lock", "vault/core/lock"}
	if n := find(t, b.client, "service/*/leader"); !slices.Equal(n.Locked, want) || !n.Complete || !n.Readable || n.Hidden {
		t.Errorf("%+v", n)
	}
	if n := find(t, b.client, "vault/core/lockk"); len(n.Locked) == 0 || n.Locked[0] != "vault/core/lock" {
		t.Errorf("the search for a key with a typo returned %+v, want vault/core/lock first", n)
	}
}

func TestNearbyReportsReadableKeys(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	root := newBackend(t, Config{Address: agent.Addr(), Token: agent.Token()})
	root.Acquire(t, api.KVPair{Key: "service/web/leader", Session: root.Session(t, &api.SessionEntry{})})
	root.Put(t, "app/config", "{}")
	for rules, want := range map[string]NearbyLocks{
		"":                                      {Hidden: true, Complete: true},
		`key_prefix "app/" { policy = "read" }`: {Hidden: true, Readable: true, Complete: true},
	} {
		c := newClient(t, Config{Address: agent.Addr(), Token: root.Token(t, rules)})
		n := find(t, c, "service/*/leader")
		if n.Hidden != want.Hidden || n.Readable != want.Readable || n.Complete != want.Complete || len(n.Locked) > 0 ||
			!strings.Contains(n.Rule, `key_prefix "service/"`) {
			t.Errorf("rules %q: %+v", rules, n)
		}
		if hidden, err := Hidden(t.Context(), c, "service/web/leader"); err != nil || !hidden {
			t.Errorf("rules %q: a key that exists: hidden %v, error %v; want true and no error", rules, hidden, err)
		}
		if hidden, err := Hidden(t.Context(), c, "service/mail/leader"); err != nil || hidden {
			t.Errorf("rules %q: a key that does not exist: hidden %v, error %v; want false and no error", rules, hidden, err)
		}
	}
	if n := find(t, newClient(t, Config{Address: agent.Addr()}), "service/*/leader"); !n.Anonymous || !n.Hidden || n.Readable {
		t.Errorf("without a token: got %+v, want an anonymous search with hidden keys only", n)
	}
}

func TestWatchedAndSkippedLocksAreLeftOut(t *testing.T) {
	b := newBackend(t, Config{Address: consultest.Dev(t).Addr()})
	s := b.Session(t, &api.SessionEntry{})
	for i := range MaxNearbyLocks + 2 {
		b.Acquire(t, api.KVPair{Key: fmt.Sprintf("service/db/members/pg%d", i), Session: s})
	}
	for _, key := range []string{"service/web/leader", "service/backup/leader", "vault/core/lock"} {
		b.Acquire(t, api.KVPair{Key: key, Session: s})
	}
	n := findOther(t, b.client, func(key string) bool { return strings.Contains(key, "/members/") }, "service/*/leader", "!service/backup/*")
	if want := []string{"service/backup/leader", "vault/core/lock"}; !slices.Equal(n.Locked, want) || !n.Complete {
		t.Errorf("%+v, want %q", n, want)
	}
}
