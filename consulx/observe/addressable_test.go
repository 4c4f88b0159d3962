package observe

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/consulx/internal/wire"
	"electop/consulx/observe/internal/shard"
	"electop/election"
)

// Keys that differ only in invalid UTF-8 look the same in every response. Each key must have its own row and events,
// and an action on one key must not change another.
func TestKeysThatLookTheSameAreSeparateElections(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		keys := []string{p + "w\xffb/leader", p + "w\xfeb/leader", p + "w\uFFFDb/leader"}
		shown := keys[2]
		sessions := make([]string, len(keys))
		for i, key := range keys {
			sessions[i] = b.Session(t, &api.SessionEntry{Name: fmt.Sprint("web-", i)})
			b.Acquire(t, api.KVPair{Key: key, Value: fmt.Append(nil, "web-", i), Session: sessions[i]})
		}
		board := observe(t, b.client, p+"*/leader")
		board.until("three rows", func() bool { return len(board.last.Elections) == 3 })
		if _, _, err := b.API.KV().Release(&api.KVPair{Key: keys[1], Session: sessions[1]}, nil); err != nil {
			t.Fatal(err)
		}
		lost, n := board.event(0, election.Vacated, shown)
		why, _ := board.event(n, election.Explained, shown)
		if lost.Leader != "web-1" || why.Cause != election.Released || why.CreateIndex != lost.CreateIndex {
			t.Errorf("%+v, explained %+v", lost, why)
		}
		board.until("one row without a leader", func() bool {
			led, vacant := countStates(board.last)
			return led == 2 && vacant == 1
		})
		op := consulx.NewOperator(b.client, board.o.Note)
		for _, e := range board.snapshot().Elections {
			if !e.Unaddressable || board.snapshot().Find(e.ID()) != e {
				t.Errorf("%q: unaddressable %v", e.ID(), e.Unaddressable)
			}
			if err := op.Release(t.Context(), e.Target()); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
				t.Errorf("release: %v", err)
			}
		}
		for i, key := range keys {
			if held := b.Get(t, key); held == nil || (held.Session != "") != (i != 1) {
				t.Errorf("%q: %+v", key, held)
			}
		}
	})
}

// A transaction cannot address such a key, so a shard that reads names first must not read the key with a
// transaction.
func TestSparingReadsFindUnaddressableKeys(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		for _, name := range []string{"a\xffb", "a\xfeb", "plain"} {
			b.Put(t, p+name+"/leader", name)
		}
		ps := patterns(t, p+"*/leader")
		got, _, err := readKeys(b.client, shard.Plan(ps, 1)[0], ps, wire.List{}, true, b.client.Read(t.Context()))
		if err != nil || len(got.Pairs) != 3 {
			t.Errorf("%d keys, %v", len(got.Pairs), err)
		}
	})
}
