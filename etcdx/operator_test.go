package etcdx_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"electop/election"
	"electop/etcdx"
	"electop/internal/etcdtest"
)

// A lease is revoked only if it has exactly the keys that were shown, and leads with the same key. An action that etcd does
// not confirm may have been carried out.
func TestDestroySession(t *testing.T) {
	etcd := etcdtest.Shared(t)
	granted, err := etcd.Grant(t.Context(), 600)
	must(t, err)
	session := fmt.Sprintf("%x", granted.ID)
	key := "/destroy/a/" + session
	put(t, etcd, key, "a", clientv3.WithLease(granted.ID))
	put(t, etcd, "/destroy/other", "", clientv3.WithLease(granted.ID))
	ps := election.Patterns{election.KeyPattern("/destroy/a")}
	proxy := etcdtest.StartProxy(t, etcd.Members[0].Endpoint())
	c := newClient(t, etcdx.Options{Endpoints: []string{proxy.Endpoint()}})
	s, err := etcdx.Once(t.Context(), c, ps, election.HistoryRead{})
	must(t, err)
	var stages []election.ActionStage
	op := etcdx.NewOperator(c, func(a election.OperatorAction) {
		if a.Session != session {
			t.Error(a)
		}
		stages = append(stages, a.Stage)
	})
	shown := func(keys ...string) election.Destroy {
		return election.Destroy{Target: s.Elections[0].Target(), Keys: keys}
	}
	all := shown("/destroy/a", "/destroy/other")
	another := all
	another.CreateIndex--
	for name, d := range map[string]election.Destroy{
		"a key was not shown": shown("/destroy/a"), "a key is missing": shown("/destroy/a", "/destroy/other", "/destroy/gone"), "another hold": another,
	} {
		if err := op.DestroySession(t.Context(), d); !errors.Is(err, election.ErrMoved) || !strings.HasSuffix(err.Error(), "nothing was written") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := op.Release(t.Context(), election.Target{Key: "/destroy/a", Session: session}); !errors.Is(err, election.ErrRefused) {
		t.Error(err)
	}
	if _, err := c.Lease(t.Context(), int64(granted.ID), false); err != nil {
		t.Fatal(err)
	}
	must(t, op.DestroySession(t.Context(), shown("/destroy/a", "/destroy/other")))
	if err := op.DestroySession(t.Context(), all); !errors.Is(err, election.ErrMoved) {
		t.Error(err)
	}
	if fmt.Sprint(stages) != fmt.Sprint([]election.ActionStage{election.ActionStarted, election.ActionFailed, election.ActionStarted, election.ActionDone}) {
		t.Error(stages)
	}
}
