package etcdx_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"electop/election"
	"electop/etcdx"
	"electop/internal/etcdtest"
)

var queue = election.PrefixRange("election/a/")

// behind starts a cluster of one member and a watch through a proxy.
func behind(t *testing.T) (*etcdtest.Cluster, *etcdtest.Proxy, *observer) {
	t.Helper()
	t.Parallel()
	etcd := etcdtest.Start(t, 1)
	proxy := etcdtest.StartProxy(t, etcd)
	return etcd, proxy, watch(t, etcd, proxy.Endpoint())
}

// alone starts a cluster of one member and a watch.
func alone(t *testing.T) (*etcdtest.Member, *observer) {
	t.Helper()
	t.Parallel()
	etcd := etcdtest.Start(t, 1)
	return etcd.Members[0], watch(t, etcd, etcd.Members[0].Endpoint())
}

func watch(t *testing.T, etcd *etcdtest.Cluster, endpoint string) *observer {
	t.Helper()
	put(t, etcd, "election/a/1", "one")
	o := observe(t, etcd, etcdx.Options{Endpoints: []string{endpoint}}, queue)
	o.complete(0)
	return o
}

func TestTheOnlyMemberIsDown(t *testing.T) {
	for problem, of := range map[string]struct{ begin, end func(*etcdtest.Member) error }{
		"connection refused": {(*etcdtest.Member).Kill, (*etcdtest.Member).Start}, "no response": {(*etcdtest.Member).Freeze, (*etcdtest.Member).Thaw},
	} {
		t.Run(problem, func(t *testing.T) {
			member, o := alone(t)
			began := time.Now()
			must(t, of.begin(member))
			o.stale(began, problem)
			must(t, of.end(member))
			o.live()
			o.complete(0)
		})
	}
}

func TestTheOnlyMemberIsDownForLong(t *testing.T) {
	slow(t)
	for name, end := range map[string]func(*etcdtest.Member) error{"kill": (*etcdtest.Member).Kill, "stop": (*etcdtest.Member).Stop} {
		t.Run(name, func(t *testing.T) {
			member, o := alone(t)
			must(t, end(member))
			began := time.Now()
			o.stale(began, "connection refused")
			<-time.NewTimer(time.Until(began.Add(15 * time.Second))).C
			must(t, member.Start())
			o.live()
			o.complete(0)
		})
	}
}

// The board is stale, and afterwards every change is reported.
func TestConnectionsBreak(t *testing.T) {
	for name, fault := range map[string]func(*etcdtest.Proxy){"cut": (*etcdtest.Proxy).Cut, "half-open": (*etcdtest.Proxy).Freeze} {
		t.Run(name, func(t *testing.T) {
			etcd, proxy, o := behind(t)
			began := time.Now()
			fault(proxy)
			for i := range 20 {
				put(t, etcd, fmt.Sprint("election/a/", i%3), fmt.Sprint(i))
			}
			o.stale(began, "")
			proxy.Heal()
			o.live()
			o.complete(0)
		})
	}
}

func TestChangesAreCompactedWhileDisconnected(t *testing.T) {
	etcd, proxy, o := behind(t)
	began := time.Now()
	proxy.Cut()
	_, err := etcd.Delete(t.Context(), "election/a/1")
	must(t, err)
	now := put(t, etcd, "election/a/2", "two")
	_, err = etcd.Compact(t.Context(), now)
	must(t, err)
	o.stale(began, "")
	proxy.Heal()
	if got := o.listed(); !got.Gap || len(got.KVs) != 2 || string(got.KVs[1].Key) != "election/a/2" {
		t.Fatal(got)
	}
	o.live()
	o.complete(1)
}

// The restored store has another history. It has passed the last reported revision before electop connects again.
func TestASnapshotIsRestored(t *testing.T) {
	for name, passes := range map[string]bool{"lower": false, "passed": true} {
		t.Run(name, func(t *testing.T) {
			etcd, proxy, o := behind(t)
			lease := grant(t, etcd)
			snapshot := etcd.Snapshot(t)
			for i := range 20 {
				put(t, etcd, "election/a/2", fmt.Sprint(i), clientv3.WithLease(lease))
			}
			for len(o.changes) < 21 {
				await[etcdx.Changed](o)
			}
			before := o.last
			began := time.Now()
			proxy.Cut()
			etcd.Restore(t, snapshot)
			for last := int64(0); passes && last <= before; {
				last = put(t, etcd, "election/a/2", "other", clientv3.WithLease(lease))
			}
			o.stale(began, "")
			proxy.Heal()
			if got := o.listed(); !got.Gap || len(got.KVs) != map[bool]int{false: 2, true: 3}[passes] || passes != (got.Revision > before) {
				t.Fatal(got)
			}
			o.live()
			o.complete(1)
		})
	}
}

// A watch outlives the revocation of its role, which takes effect at the next connection.
func TestRightsAreRevoked(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t, 1)
	etcd.AddReader(t, "reader", "election/")
	proxy := etcdtest.StartProxy(t, etcd)
	o := observe(t, etcd, etcdx.Options{Endpoints: []string{proxy.Endpoint()}, User: "reader", Password: "reader"}, queue)
	o.complete(0)
	etcd.RevokeRole(t, "reader", "reader")
	o.complete(0)
	began := time.Now()
	proxy.Cut()
	proxy.Heal()
	o.stale(began, "permission denied")
	etcd.GrantRole(t, "reader", "reader")
	o.live()
	o.complete(0)
}

// The watch of two ranges does not need the right to read what is between them.
func TestRightsBetweenRangesAreRevoked(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t, 1)
	etcd.AddReader(t, "reader", "election/")
	etcd.AddReader(t, "other", "election/b/")
	proxy := etcdtest.StartProxy(t, etcd)
	b := election.PrefixRange("election/b/")
	o := observe(t, etcd, etcdx.Options{Endpoints: []string{proxy.Endpoint()}, User: "reader", Password: "reader"}, queue, b)
	o.sync()
	etcd.AddReader(t, "some", queue.From)
	for _, role := range []string{"other", "some"} {
		etcd.GrantRole(t, "reader", role)
	}
	etcd.RevokeRole(t, "reader", "reader")
	proxy.Cut()
	proxy.Heal()
	o.sync()
}

// write writes 500 changes per second to two queues until stop is called.
func write(t *testing.T, etcd *etcdtest.Cluster) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ctx.Err() == nil; i++ {
			<-tick.C
			trying, end := context.WithTimeout(ctx, time.Second) // a frozen member does not respond
			_, _ = etcd.Put(trying, fmt.Sprintf("election/%c/%d", 'a'+i%2, i%7), fmt.Sprint(i))
			end()
		}
	}()
	return func() { cancel(); <-done }
}

// The watch of two ranges starts among changes that never pause.
func TestConstantChanges(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t, 1)
	stop := write(t, etcd)
	o := observe(t, etcd, etcdx.Options{Endpoints: etcd.Endpoints()}, queue, election.PrefixRange("election/b/"))
	await[etcdx.Changed](o)
	stop()
	o.complete(0)
}

// Each of three members is killed, or all but one are frozen, while 500 changes are written per second.
func TestMembersFail(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t, 3)
	o := observe(t, etcd, etcdx.Options{Endpoints: etcd.Endpoints()}, queue, election.PrefixRange("election/b/"))
	stop := write(t, etcd)
	for _, m := range etcd.Members {
		must(t, m.Kill())
		put(t, etcd, "election/c", "")
		must(t, m.Start())
		o.sync()
	}
	o.sync()
	lead := etcd.Leader(t)
	began := time.Now()
	for i, m := range etcd.Members {
		if i != lead {
			must(t, m.Freeze())
		}
	}
	o.stale(began, "")
	for i, m := range etcd.Members {
		if i != lead {
			must(t, m.Thaw())
		}
	}
	o.live()
	stop()
	o.complete(0)
	frozen := etcd.Members[(lead+1)%3]
	must(t, frozen.Freeze())
	all, err := newClient(t, etcdx.Options{Endpoints: etcd.Endpoints()[lead : lead+1]}).Members(t.Context())
	if err != nil || !slices.ContainsFunc(all, func(m etcdx.Member) bool { return m.Problem == "connected, but no response" }) {
		t.Error(all, err)
	}
	t.Log(len(o.changes), "changes")
}
