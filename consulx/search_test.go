package consulx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/hashicorp/consul/api"
)

func TestHoldings(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix()
		s, other := b.Session(), b.Session()
		for i := range 150 {
			b.Put(fmt.Sprintf("%sk%d", p, i), "v")
		}
		for _, key := range []string{"a", "k7", "odd//key\x1b", "z/z"} {
			lock := api.TxnOps{{KV: &api.KVTxnOp{Verb: api.KVLock, Key: p + key, Session: s}}}
			if ok, r, _, err := b.API.Txn().Txn(lock, nil); err != nil || !ok {
				t.Fatal(ok, r, err)
			}
		}
		b.Acquire(api.KVPair{Key: p + "other", Session: other})
		var done, total, calls int
		found, err := b.client.Holdings(t.Context(), []string{s}, func(d, n int) {
			if d < done {
				t.Errorf("the progress decreased from %d keys to %d", done, d)
			}
			done, total = d, n
			calls++
		})
		want := []string{p + "a", p + "k7", p + "odd//key\x1b", p + "z/z"}
		if got := keysOf(found); err != nil || !slices.Equal(got, want) || done != total || total < 154 || calls < 3 {
			t.Fatalf("got %q, %v; progress %d of %d in %d calls; want %q and complete progress", got, err, done, total, calls, want)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if _, err = b.client.Holdings(ctx, []string{s}, func(int, int) { cancel() }); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped: %v", err)
		}
	})
}

func TestHoldingsUnderACLs(t *testing.T) {
	root, with := underACLs(t)
	s := root.Session()
	root.Acquire(api.KVPair{Key: "seen/a", Session: s})
	root.Acquire(api.KVPair{Key: "unseen/b", Session: s})
	for rules, want := range map[string]int{
		"": 0, `key_prefix "seen/" { policy = "read" }`: 1, `key_prefix "" { policy = "read" }`: 2,
	} {
		found, err := with(rules).Holdings(t.Context(), []string{s}, nil)
		if len(found) != want || errors.Is(err, ErrIncomplete) != (want < 2) || want == 2 && err != nil {
			t.Errorf("with %q: %v, %v", rules, found, err)
		}
	}
}
