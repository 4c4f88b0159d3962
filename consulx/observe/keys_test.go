package observe

import (
	"testing"

	"electop/consulx"
	"electop/election"
)

// Consul replaces the invalid bytes of keys, so that several keys may look the same.
func TestOfKeysThatLookTheSameTheOldestIsShown(t *testing.T) {
	pair := func(key string, created uint64) election.Pair { return election.Pair{Key: key, CreateIndex: created} }
	got := newKeySet(consulx.PairList{Pairs: []election.Pair{
		pair("service/a\uFFFDb/leader", 25), pair("service/a\uFFFDb/leader", 24), pair("service/z/leader", 1),
	}}, patterns(t))
	if len(got.Pairs) != 2 || got.Pairs[0].CreateIndex != 24 || got.Pairs[1].CreateIndex != 1 {
		t.Errorf("%+v, want the keys with the indexes 24 and 1", got.Pairs)
	}
}
