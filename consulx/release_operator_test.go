package consulx

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/consultest"
)

func TestReleaseIsByteExact(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix()
		s := b.Session()
		for i, pair := range []api.KVPair{
			{Key: p + "empty", Flags: 1<<64 - 1},
			{Key: p + "odd //./../key\x1b?#%2f", Flags: 7, Value: []byte("odd")},
		} {
			lock := api.TxnOps{{KV: &api.KVTxnOp{
				Verb: api.KVLock, Key: pair.Key, Value: pair.Value, Flags: pair.Flags, Session: s,
			}}}
			if ok, r, _, err := b.API.Txn().Txn(lock, nil); err != nil || !ok {
				t.Fatal(ok, r, err)
			}
			before, err := b.client.ReadKey(t.Context(), pair.Key)
			if err != nil || before == nil {
				t.Fatal(before, err)
			}
			target := targetOf(*before)
			if err := NewOperator(b.client, nil).Release(t.Context(), target); err != nil {
				t.Fatalf("pair %d: %v", i, err)
			}
			after, err := b.client.ReadKey(t.Context(), pair.Key)
			if err != nil || after.Held() || after.Flags != pair.Flags || !bytes.Equal(after.Value, pair.Value) ||
				after.LockIndex != before.LockIndex {
				t.Fatalf("pair %d: %+v became %+v, %v; want only the session removed", i, before, after, err)
			}
		}
	})
}

// shown returns the destroy of a session that holds exactly the key of the target.
func shown(target election.Target) election.Destroy {
	d := election.Destroy{Target: target, Shown: time.Now()}
	if target.Key != "" {
		d.Keys = []string{target.Key}
	}
	return d
}

// targetOf returns the hold in a pair that was read.
func targetOf(p election.Pair) election.Target {
	e := election.Election{Exists: true, Pair: p, Term: p.LockIndex}
	return e.Target()
}

func TestOperatorUnderACLs(t *testing.T) {
	root, with := underACLs(t)
	target := root.hold()
	key := target.Key
	before := root.Get(key)
	reader := root.Token(`key_prefix "test/" { policy = "read" } session_prefix "" { policy = "read" }`)
	for name, token := range map[string]string{
		"reader": reader, "nobody": root.Token(""), "anonymous": "", "unknown": "e1ec0709-0000-4000-8000-00000000dead",
	} {
		t.Setenv("CONSUL_HTTP_TOKEN", "")
		op := NewOperator(newClient(t, Config{Address: root.Addr, Token: token}), nil)
		destroyed := op.DestroySession(t.Context(), shown(target))
		released := op.Release(t.Context(), target)
		for _, err := range []error{released, destroyed} {
			if !errors.Is(err, ErrDenied) || token != "" && strings.Contains(err.Error(), token) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if after := root.Get(key); after.ModifyIndex != before.ModifyIndex {
		t.Fatalf("the key was written: got %+v, want %+v", after, before)
	}
	writer := with(`key_prefix "test/" { policy = "write" }`)
	must(t, NewOperator(writer, nil).Release(t.Context(), target))
}

// The plan of a dashboard with several datacenters must not reach another one. Consul replaces bytes that are not UTF-8.
func TestNothingIsSentForATargetThatCannotBeReached(t *testing.T) {
	client := newClient(t, Config{Address: "consul.test", Datacenter: "dc1", Transport: consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/v1/txn" || isDestroy(r) {
			t.Errorf("%s was requested", r.URL)
		}
		return consultest.Answer(r, 200, 7, `[{"ID":"s","Node":"n","Behavior":"release"}]`), nil
	})})
	op := NewOperator(client, nil)
	for want, target := range map[string]election.Target{
		"the target is in datacenter dc2": {Key: "k", Session: "s", Datacenter: "dc2"}, "is not UTF-8": {Key: "a\xff", Session: "s"},
		"is not UTF-8: ": {Key: "a\uFFFD", Session: "s"},
	} {
		for _, err := range []error{op.Release(t.Context(), target), op.DestroySession(t.Context(), shown(target))} {
			if !errors.Is(err, ErrRefused) || !strings.Contains(Describe(err), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
	}
}
