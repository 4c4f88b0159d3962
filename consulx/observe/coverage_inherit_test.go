package observe

import (
	"slices"
	"testing"

	"electop/consulx/internal/blocking"
	"electop/consulx/internal/wire"
	"electop/consulx/observe/internal/shard"
	"electop/election"
)

func TestInherit(t *testing.T) {
	pair := func(key string) election.Pair { return election.Pair{Key: key} }
	wide := retiredShard{Watch: shard.PrefixWatch("s/a"), state: keyState{
		phase: live, next: blocking.Position{Index: 9, Epoch: 2}, last: keySet{List: wire.List{Pairs: []election.Pair{pair("s/a1"), pair("s/a2")}}, others: []string{"s/a1x", "s/a3"}},
		hidden: []string{"s/a1h", "s/ah"},
	}}
	other := retiredShard{Watch: shard.PrefixWatch("s/b"), state: keyState{phase: live, next: blocking.Position{Index: 11, Epoch: 1}, last: keySet{List: wire.List{Pairs: []election.Pair{pair("s/b")}}}}}
	part := inherit(shard.PrefixWatch("s/a1"), []retiredShard{other, wide})
	if part.next != (blocking.Position{Index: 9, Epoch: 2}) || part.phase != live || len(part.last.Pairs) != 1 || !slices.Equal(part.last.others, []string{"s/a1x"}) || !slices.Equal(part.hidden, []string{"s/a1h"}) {
		t.Errorf("a part inherits %+v, want only its own keys, live, at index 9 of epoch 2", part)
	}
	broken := retiredShard{Watch: shard.PrefixWatch("s/c"), state: keyState{phase: failing, next: blocking.Position{}.Lost()}}
	if part := inherit(shard.PrefixWatch("s/c1"), []retiredShard{broken}); part.phase != opening || part.next != broken.state.next {
		t.Errorf("the state of a part of a failed shard is %+v, want opening at the position of that shard", part)
	}
	whole := inherit(shard.PrefixWatch("s/"), []retiredShard{other, wide})
	if !slices.Equal(whole.hidden, []string{"s/a1h", "s/ah"}) {
		t.Errorf("a shard that replaces several has the hidden keys %q, want those of all of them", whole.hidden)
	}
	if whole.next != (blocking.Position{Epoch: 1}) || whole.phase != opening || len(whole.last.Pairs) != 3 || whole.last.Pairs[0].Key != "s/a1" {
		t.Errorf("the state of a shard that replaces several is %+v, want opening with all 3 keys, at the start of epoch 1", whole)
	}
	if single := inherit(shard.KeyWatch("s/a2"), []retiredShard{wide}); single.next != (blocking.Position{Index: 9, Epoch: 2}) || len(single.last.Pairs) != 1 {
		t.Errorf("the state of a shard with a single key is %+v, want this key, at index 9 of epoch 2", single)
	}
}
