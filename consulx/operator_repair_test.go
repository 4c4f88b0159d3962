package consulx

import (
	"bytes"
	"errors"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/consulx/internal/wire"
	"electop/election"
)

func TestRepairsWriteExactlyTheStateThatWasRead(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		op := NewOperator(b.client, nil)
		key := b.Prefix(t) + "odd //./../leader"
		value := []byte("v\x00\xff")
		put := func(v []byte) {
			set := api.TxnOps{{KV: &api.KVTxnOp{Verb: api.KVSet, Key: key, Value: v, Flags: 1<<64 - 1}}}
			if ok, r, _, err := b.API.Txn().Txn(set, nil); err != nil || !ok {
				t.Fatal(ok, r, err)
			}
		}
		read := func() *election.Pair {
			p, err := b.client.ReadKey(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		put([]byte("old"))
		old := *read()
		put(value)
		if err := op.SetFlags(t.Context(), old, election.LockFlag); !errors.Is(err, ErrMoved) {
			t.Errorf("SetFlags for an older state returned %v, want ErrMoved", err)
		}
		if err := op.DeleteFree(t.Context(), old); !errors.Is(err, ErrMoved) {
			t.Errorf("DeleteFree for an older state returned %v, want ErrMoved", err)
		}
		if p := read(); p == nil || p.Flags != 1<<64-1 {
			t.Fatalf("%+v", p)
		}
		if err := op.SetFlags(t.Context(), *read(), election.LockFlag); err != nil {
			t.Fatal(err)
		}
		if p := read(); p == nil || p.Flags != election.LockFlag || !bytes.Equal(p.Value, value) {
			t.Fatalf("%+v", p)
		}
		if err := op.DeleteFree(t.Context(), *read()); err != nil || read() != nil {
			t.Fatal(err, read())
		}
		if err := op.SetFlags(t.Context(), election.Pair{Key: key}, 1); !errors.Is(err, ErrMoved) || read() != nil {
			t.Fatal(err, read())
		}
	})
}

func TestRepairsNeverWriteAHeldKey(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		op := NewOperator(b.client, nil)
		key := b.Prefix(t) + "web/leader"
		s := b.Session(t, &api.SessionEntry{})
		b.Acquire(t, api.KVPair{Key: key, Session: s, Value: []byte("v")})
		held := wire.Pair(b.Get(t, key))
		for _, err := range []error{op.SetFlags(t.Context(), held, 1), op.DeleteFree(t.Context(), held)} {
			if !errors.Is(err, ErrMoved) {
				t.Error(err)
			}
		}
		if p := b.Get(t, key); p.Session != s || p.LockIndex != 1 || p.Flags != 0 {
			t.Errorf("%+v", p)
		}
	})
}
