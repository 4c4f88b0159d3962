package observe

import (
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

func TestFilteredChecksProveOnlyWhatTheyContain(t *testing.T) {
	s := &election.Session{NodeChecks: []string{"a", "b"}}
	for _, c := range []struct {
		checks []election.Check
		want   bool
	}{
		{nil, false},
		{[]election.Check{{ID: "a", Status: election.StatusPassing}}, false},
		{[]election.Check{{ID: "a", Status: election.StatusCritical}}, true},
		{[]election.Check{{ID: "c", Status: election.StatusCritical}}, false},
		{[]election.Check{{ID: "b"}, {ID: "a"}}, true},
	} {
		node := nodeState{Evidence: election.Evidence{ChecksRead: true, NodeExists: true, Checks: c.checks}, filtered: true}
		if ev := node.evidence(s); ev.ChecksRead != c.want || (ev.Err == "") != c.want {
			t.Errorf("%+v: %+v", c.checks, ev)
		}
	}
}

// A key's tombstone has the index of the deletion. Later writes do not change it.
func TestTombstoneContainsTheIndexOfTheDeletion(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix()
		key := p + "web/leader"
		session := b.Session(api.SessionEntry{Behavior: api.SessionBehaviorDelete})
		b.Acquire(api.KVPair{Key: key, Session: session})
		held := b.Get(key).ModifyIndex
		b.Destroy(session)
		b.Put(p+"later", "x")
		later := b.Get(p + "later").ModifyIndex
		if got := deleteIndex(t.Context(), b.Client, key); got <= held || got >= later {
			t.Errorf("index of the deletion %[2]d, want more than %[1]d and less than %[3]d", held, got, later)
		}
		b.Put(key+"-of-another", "x")
		if got := deleteIndex(t.Context(), b.Client, key); got != 0 {
			t.Errorf("another key has the deleted key as a prefix, but deleteIndex returned %d, want 0", got)
		}
		if got := deleteIndex(t.Context(), b.Client, p+"w\uFFFDb/leader"); got != 0 {
			t.Errorf("deleteIndex returned %d for a key that a request cannot address, want 0", got)
		}
	})
}
