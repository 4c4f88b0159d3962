package etcdx_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"electop/election"
	"electop/election/insight"
	"electop/etcdx"
	"electop/internal/etcdtest"
)

// unconfirmed is a client whose revokes get no response.
type unconfirmed struct{ *etcdx.Client }

func (unconfirmed) Revoke(context.Context, int64) error {
	return fmt.Errorf("%w: no response", election.ErrUnknown)
}

// A lease is revoked only if it has exactly the keys that were shown, and leads with the same key. An action that etcd does
// not confirm may have been carried out.
func TestDestroySession(t *testing.T) {
	etcd := etcdtest.Shared(t)
	granted := grant(t, etcd)
	session := fmt.Sprintf("%x", granted)
	key := "/destroy/a/" + session
	put(t, etcd, key, "a", clientv3.WithLease(granted))
	put(t, etcd, "/destroy/other", "", clientv3.WithLease(granted))
	ps := election.Patterns{election.KeyPattern("/destroy/a")}
	c := newClient(t, etcdx.Options{Endpoints: etcd.Endpoints()})
	s, err := etcdx.Reader{c}.Once(t.Context(), ps, election.HistoryRead{})
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
	_, err = c.Lease(t.Context(), int64(granted), false)
	must(t, err)
	lost := etcdx.NewOperator(unconfirmed{c}, nil)
	if err := lost.DestroySession(t.Context(), all); !errors.Is(err, election.ErrUnknown) || !strings.HasSuffix(err.Error(), "the lease still exists") {
		t.Error(err)
	}
	must(t, op.DestroySession(t.Context(), all))
	if err := op.DestroySession(t.Context(), all); !errors.Is(err, election.ErrMoved) || !strings.Contains(err.Error(), ": none;") {
		t.Error(err)
	}
	if fmt.Sprint(stages) != fmt.Sprint([]election.ActionStage{election.ActionStarted, election.ActionFailed, election.ActionStarted, election.ActionDone}) {
		t.Error(stages)
	}
}

// Patroni is refused in any namespace, also if only the lease was selected, and if its members cannot be read.
func TestDestroySessionOfPatroni(t *testing.T) {
	etcd := etcdtest.Start(t, 1)
	granted := grant(t, etcd)
	put(t, etcd, "/pg/a/leader", "m1", clientv3.WithLease(granted))
	other := grant(t, etcd)
	put(t, etcd, "/pg/a/members/m2", `{"conn_url":"postgres://m2"}`, clientv3.WithLease(other))
	put(t, etcd, "/pg/a/members/m1", `{"conn_url":"postgres://m1"}`, clientv3.WithLease(granted))
	c := newClient(t, etcdx.Options{Endpoints: etcd.Endpoints()})
	s := once(t, c, "/pg/*/leader")
	around := etcdx.Surroundings(t.Context(), c, "/pg/a/leader")
	next := insight.NewBoard(s.Elections, nil).Candidates(s.Elections[0], &around)
	if len(next) != 1 || next[0].Name != "m2" || !next[0].Exact || next[0].Session.ID != fmt.Sprintf("%x", other) {
		t.Errorf("%+v", next)
	}
	etcd.AddWriter(t, "few", "/pg/a/leader")
	session := fmt.Sprintf("%x", granted)
	for user, want := range map[string]error{"root": election.ErrRefused, "few": election.ErrIncomplete} {
		c := newClient(t, etcdx.Options{Endpoints: etcd.Endpoints(), User: user, Password: user})
		err := etcdx.NewOperator(c, nil).DestroySession(t.Context(), election.Destroy{Target: election.Target{Session: session}, Keys: []string{"/pg/a/leader", "/pg/a/members/m1"}})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", user, err)
		}
	}
	root := newClient(t, etcdx.Options{Endpoints: etcd.Endpoints(), User: "root", Password: "root"})
	d := election.Destroy{Target: s.Elections[0].Target(), Keys: []string{"/pg/a/leader", "/pg/a/members/m1"}}
	must(t, etcdx.NewOperator(dead{root}, nil).DestroySession(t.Context(), d))
}

// dead is a client whose leases were not renewed for a while.
type dead struct{ *etcdx.Client }

func (d dead) Lease(ctx context.Context, id int64, keys bool) (etcdx.Lease, error) {
	lease, err := d.Client.Lease(ctx, id, keys)
	lease.Remaining = lease.Granted / 3
	return lease, err
}

// The lease of a queue may also be that of a lock, whose name the user did not see.
func TestDestroySessionOfAnotherLock(t *testing.T) {
	etcd := etcdtest.Shared(t)
	granted := grant(t, etcd)
	session := fmt.Sprintf("%x", granted)
	put(t, etcd, "/shared/a/"+session, "a", clientv3.WithLease(granted))
	put(t, etcd, "/shared/lock/"+session, "", clientv3.WithLease(granted))
	c := newClient(t, etcdx.Options{Endpoints: etcd.Endpoints()})
	s := once(t, c, "/shared/a")
	d := election.Destroy{Target: s.Elections[0].Target(), Keys: []string{"/shared/a", "/shared/lock"}}
	if err := etcdx.NewOperator(c, nil).DestroySession(t.Context(), d); !errors.Is(err, election.ErrRefused) || !strings.Contains(err.Error(), "/shared/lock") {
		t.Error(err)
	}
}
