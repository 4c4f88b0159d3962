package consulx

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

// patroniSession returns a session with Patroni's settings.
func patroniSession(name string) api.SessionEntry {
	return api.SessionEntry{Name: name, Behavior: api.SessionBehaviorDelete, TTL: "15s", LockDelay: time.Millisecond}
}

func TestReleaseRefusesPatroniKeys(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix() + "batman/"
		key := p + "leader"
		for name, entry := range map[string]api.SessionEntry{
			"recognised by its session":  patroniSession("batman-pg-1"),
			"recognised by its siblings": patroniSession("another-name"),
		} {
			s := b.Session(entry)
			b.Acquire(api.KVPair{Key: p + "members/pg-1", Session: s, Value: []byte(`{"conn_url":"postgres://10.0.0.1/","api_url":"http://10.0.0.1:8008"}`)})
			b.Acquire(api.KVPair{Key: key, Session: s, Value: []byte("pg-1")})
			before := b.Get(key)
			target := targetOf(PairOf(before))
			op := NewOperator(b.client, nil)
			err := op.Release(t.Context(), target)
			if !errors.Is(err, ErrRefused) || !strings.Contains(Describe(err), "patronictl -c FILE switchover") ||
				!strings.Contains(Describe(err), "nothing was written") {
				t.Errorf("%s: got %v", name, err)
			}
			if after := b.Get(key); after.ModifyIndex != before.ModifyIndex || after.Session != s {
				t.Errorf("%s: the key changed to %+v", name, after)
			}
			if err := op.DestroySession(t.Context(), election.Destroy{Target: target, Keys: []string{key, p + "members/pg-1"}, Shown: time.Now()}); err != nil {
				t.Errorf("%s: destroy: %v", name, err)
			}
		}
	})
}

func TestReleaseOfKeysThatOnlyLookLikePatroni(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix()
		for name, entry := range map[string]api.SessionEntry{
			"release": {Name: "web-1", TTL: "15s", Behavior: api.SessionBehaviorRelease},
			"delete":  {Name: "worker", TTL: "15s", Behavior: api.SessionBehaviorDelete},
		} {
			key := p + name + "/leader"
			b.Acquire(api.KVPair{Key: key, Session: b.Session(entry), Value: []byte("web-1")})
			if err := NewOperator(b.client, nil).Release(t.Context(), targetOf(PairOf(b.Get(key)))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// Without permission for the session and the sibling keys, electop cannot determine whether the key is Patroni's.
func TestReleaseThatCannotRuleOutPatroni(t *testing.T) {
	root, with := underACLs(t)
	p := root.Prefix() + "batman/"
	key := p + "leader"
	root.Put(p+"other", "a key that the limited token cannot read")
	for _, c := range []struct {
		name, rules string
		patroni     bool
		want        error
	}{
		{"nothing", "", true, ErrRefused},
		{"nothing", "", false, ErrRefused},
		{"session", `session_prefix "" { policy = "read" }`, true, ErrRefused},
		{"session", `session_prefix "" { policy = "read" }`, false, nil},
		{"keys", `key_prefix "` + p + `" { policy = "read" }`, true, ErrRefused},
		{"keys", `key_prefix "` + p + `" { policy = "read" }`, false, nil},
	} {
		entry := api.SessionEntry{Name: "web-1", Behavior: api.SessionBehaviorDelete}
		if c.patroni {
			entry = patroniSession("batman-pg-1")
		}
		s := root.Session(entry)
		root.Acquire(api.KVPair{Key: key, Session: s, Value: []byte("pg-1")})
		if c.patroni {
			root.Acquire(api.KVPair{Key: p + "members/pg-1", Session: s, Value: []byte(`{"conn_url":"postgres://10.0.0.1/"}`)})
		}
		op := NewOperator(with(`key "`+key+`" { policy = "write" } `+c.rules), nil)
		if err := op.Release(t.Context(), targetOf(PairOf(root.Get(key)))); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s readable, Patroni %t: got error %v, want %v", c.name, c.patroni, err, c.want)
		}
		root.Destroy(s)
	}
}

func TestOtherKeysCostNoFurtherRequest(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		target := b.hold()
		client, hook := hooked(t, b.client.Address())
		var sent []string
		hook.Before = func(r *http.Request) { sent = append(sent, r.URL.Path) }
		if err := NewOperator(client, nil).Release(t.Context(), target); err != nil || len(sent) != 3 { // read, release, read
			t.Errorf("%v; sent %v", err, sent)
		}
	})
}
