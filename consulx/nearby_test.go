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

func nearby(t *testing.T, c *Client, texts ...string) Nearby {
	t.Helper()
	n, err := FindNearby(t.Context(), c, patterns(t, texts...))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNearbyLocksAreFoundNearestFirst(t *testing.T) {
	b := newBackend(t, Config{Address: consultest.Dev(t).Addr()})
	if n := nearby(t, b.client, "service/*/leader"); n.Readable || n.Hidden || !n.Complete || len(n.Locked) != 0 {
		t.Errorf("an empty store: %+v", n)
	}
	s := b.Session(t, &api.SessionEntry{})
	for _, key := range []string{"vault/core/lock", "service/web/lock", "services/api/leader"} {
		b.Acquire(t, api.KVPair{Key: key, Session: s})
	}
	b.Acquire(t, api.KVPair{Key: "batch/slots/" + s, Session: s, Flags: election.SemaphoreFlag})
	b.Put(t, "batch/slots/.lock", "{}")
	b.Put(t, "service/web/config", "{}")
	want := []string{"service/web/lock", "services/api/leader", "batch/slots/.lock", "vault/core/lock"}
	if n := nearby(t, b.client, "service/*/leader"); !slices.Equal(n.Locked, want) || !n.Complete || !n.Readable || n.Hidden {
		t.Errorf("%+v", n)
	}
	if n := nearby(t, b.client, "vault/core/lockk"); len(n.Locked) == 0 || n.Locked[0] != "vault/core/lock" {
		t.Errorf("a typo in a key: %+v", n)
	}
}

func TestSearchForNearbyLocksIsBounded(t *testing.T) {
	b := newBackend(t, Config{Address: consultest.Dev(t).Addr()})
	s := b.Session(t, &api.SessionEntry{})
	for i := range nearbyLocks + 2 {
		b.Acquire(t, api.KVPair{Key: fmt.Sprintf("lock/%d/leader", i), Session: s})
	}
	if n := nearby(t, b.client, "locks/*"); len(n.Locked) != nearbyLocks || n.Complete {
		t.Errorf("%+v", n)
	}
	for i := range nearbyFolders {
		b.Put(t, fmt.Sprintf("app/%d/config", i), "{}")
	}
	for i := range nearbyReads + 1 {
		b.Put(t, fmt.Sprintf("jobs/%d", i), "{}")
	}
	for _, pattern := range []string{"app/*/leader", "jobs/x*"} {
		if n := nearby(t, b.client, pattern); n.Complete {
			t.Errorf("%s: %+v", pattern, n)
		}
	}
}

func TestNearbyKnowsWhatTheTokenMayRead(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	root := newBackend(t, Config{Address: agent.Addr(), Token: agent.Token()})
	root.Acquire(t, api.KVPair{Key: "service/web/leader", Session: root.Session(t, &api.SessionEntry{})})
	root.Put(t, "app/config", "{}")
	for rules, want := range map[string]Nearby{
		"":                                      {Hidden: true, Complete: true},
		`key_prefix "app/" { policy = "read" }`: {Hidden: true, Readable: true, Complete: true},
	} {
		c := newClient(t, Config{Address: agent.Addr(), Token: root.Token(t, rules)})
		n := nearby(t, c, "service/*/leader")
		if n.Hidden != want.Hidden || n.Readable != want.Readable || n.Complete != want.Complete || len(n.Locked) > 0 ||
			!strings.Contains(n.Rule, `key_prefix "service/"`) {
			t.Errorf("rules %q: %+v", rules, n)
		}
		if hidden, err := Hidden(t.Context(), c, "service/web/leader"); err != nil || !hidden {
			t.Errorf("rules %q: a key that exists: hidden %v, %v", rules, hidden, err)
		}
		if hidden, err := Hidden(t.Context(), c, "service/mail/leader"); err != nil || hidden {
			t.Errorf("rules %q: a key that does not exist: hidden %v, %v", rules, hidden, err)
		}
	}
	if n := nearby(t, newClient(t, Config{Address: agent.Addr()}), "service/*/leader"); !n.Anonymous || !n.Hidden || n.Readable {
		t.Errorf("without a token: %+v", n)
	}
}
