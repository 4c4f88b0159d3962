package observe

import (
	"net/http"
	"testing"
	"time"

	"electop/consulx"
	"electop/election"
)

// Consul replaces the invalid bytes of keys, so that several keys may look the same.
func TestOfKeysThatLookTheSameTheOldestIsShown(t *testing.T) {
	pair := func(key string, created uint64) election.Pair { return election.Pair{Key: key, CreateIndex: created} }
	got := keySet{PairList: consulx.PairList{Pairs: election.Pairs(
		pair("service/a\uFFFDb/leader", 25), pair("service/a\uFFFDb/leader", 24), pair("service/z/leader", 1),
	)}}
	got.sort()
	if len(got.Pairs) != 2 || got.Pairs[0].CreateIndex != 24 || got.Pairs[1].CreateIndex != 1 {
		t.Errorf("%+v, want the keys with the indexes 24 and 1", got.Pairs)
	}
}

// A response without a key, for example from a proxy, does not delete the key if a consistent read returns it.
func TestAKeyThatAConsistentReadReturnsIsNotGone(t *testing.T) {
	f := &fakeConsul{txn: `{"Results":[{"KV":{"Key":"a/leader","ModifyIndex":5,"CreateIndex":5,"LockIndex":1}}]}`}
	f.keys = func(n int, asked string, r *http.Request) (int, int, string) {
		switch asked {
		case "20":
			return 404, 21, ""
		case "22":
			hang(r, waitOf(r))
		}
		return 200, min(20+2*n, 22), oneKey
	}
	inBubble(t, f, func(b *board) {
		pass(10 * time.Second)
		if e := b.snapshot().Find(election.KeyID("a/leader")); len(b.of("a/leader")) != 1 || e == nil || !e.Exists {
			t.Errorf("events %+v, election %+v; want only the initial event and an election that exists", b.of("a/leader"), e)
		}
	})
}
