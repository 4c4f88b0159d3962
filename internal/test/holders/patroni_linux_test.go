package holders

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/etcdtest"
)

// TestPatroni tests electop's statements about Patroni's leader key. The subtests share one cluster. Every subtest
// except the last one leaves the cluster healthy.
func TestPatroni(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for _, part := range []struct {
		name string
		test func(*testing.T, *cluster)
	}{
		{"a release is refused", releaseIsRefused},
		{"a healthy primary acquires an unlocked key again", unlockedKeyReturns},
		{"a destroy does not change a healthy primary", destroyMovesNothing},
		{"a switchover changes a healthy primary", switchoverMoves},
		{"a destroy while the daemon hangs causes two primaries", destroyWithHungDaemon},
		{"a destroy causes a failover from a dead primary", destroyFailsOver},
		{"an unlocked key prevents the failover from a dead primary", unlockedKeyStopsFailover},
	} {
		t.Run(part.name, func(t *testing.T) {
			c.t = t
			defer func() { c.t = c.root }()
			await(t, "a healthy cluster", func() bool {
				return c.pg1.leads() && c.pg2.streams() || c.pg2.leads() && c.pg1.streams()
			})
			part.test(t, c)
		})
	}
}

// primary returns the member that leads, and the other member.
func (c *cluster) primary() (leader, other *member) {
	c.t.Helper()
	await(c.t, "a primary that leads", func() bool {
		leader, other = c.pg1, c.pg2
		if !leader.leads() {
			leader, other = other, leader
		}
		return leader.leads()
	})
	return leader, other
}

func releaseIsRefused(t *testing.T, c *cluster) {
	before := c.get()
	r := c.electop("release", c.key, "--yes")
	if r.code == 0 {
		t.Errorf("released: %v", r)
	}
	if text := r.stdout + r.stderr; !strings.Contains(text, "patronictl -c FILE switchover "+c.scope) {
		t.Errorf("the switchover command is missing: %v", r)
	}
	if after := c.get(); after.ModifyIndex != before.ModifyIndex || after.Session != before.Session {
		t.Errorf("the key changed: %+v -> %+v", before, after)
	}
}

// The primary detects that another session holds the key, deletes the key and creates it again.
func unlockedKeyReturns(t *testing.T, c *cluster) {
	leader, _ := c.primary()
	h := c.unlock()
	next := h.successor()
	h.mustKeep(next)
	if next.Session != h.pair.Session || next.CreateIndex == h.pair.CreateIndex {
		t.Errorf("the key does not have its previous holder: %+v", next)
	}
	if !leader.primary() {
		t.Error("the primary was demoted")
	}
}

func destroyMovesNothing(t *testing.T, c *cluster) {
	leader, other := c.primary()
	timeline := leader.status().Timeline
	h := c.act("destroy")
	next := h.successor()
	h.mustKeep(next)
	if next.Session == h.pair.Session {
		t.Error("the destroyed session holds the key")
	}
	await(t, "the same primary", leader.leads)
	if other.primary() || leader.status().Timeline != timeline {
		t.Errorf("a failover took place: %+v, %+v", leader.status(), other.status())
	}
}

func switchoverMoves(t *testing.T, c *cluster) {
	leader, other := c.primary()
	if r := c.patronictl("switchover", c.scope, "--leader", leader.name, "--force"); r.code != 0 {
		t.Fatal(r)
	}
	await(t, "the new primary", other.leads)
}

// After a destroy, only the daemon of the old primary stops its PostgreSQL. If the daemon hangs, a replica becomes a
// second primary.
func destroyWithHungDaemon(t *testing.T, c *cluster) {
	leader, other := c.primary()
	leader.daemon.signal(syscall.SIGSTOP)
	h := c.act("destroy")
	h.successor()
	await(t, "the new primary", other.leads)
	for _, m := range []*member{leader, other} {
		if r := m.query("CREATE TABLE written_on_" + m.name + " ()"); r.code != 0 {
			t.Errorf("%s refuses a write: %v", m.name, r)
		}
	}
	leader.daemon.signal(syscall.SIGCONT)
	t.Logf("%s was no longer a primary %v after its daemon continued", leader.name,
		await(t, "the demotion", func() bool { return !leader.writable() }).Round(time.Millisecond))
	leader.kill() // the data of the old primary differs from that of the new one
	leader.rejoin()
}

func destroyFailsOver(t *testing.T, c *cluster) {
	leader, other := c.primary()
	leader.kill()
	h := c.act("destroy")
	if next := h.successor(); string(next.Value) != other.name {
		t.Errorf("the key does not show the new primary: %+v", next)
	}
	t.Logf("%s was writable %v later", other.name, await(t, "the new primary", other.leads).Round(time.Millisecond))
	leader.rejoin()
}

// When the session of a dead primary ends, Consul deletes only the keys that the session still holds. A released key
// contains the name of the dead primary until a client deletes the key.
func unlockedKeyStopsFailover(t *testing.T, c *cluster) {
	leader, other := c.primary()
	leader.kill()
	start := time.Now()
	h := c.unlock()
	h.mustEnd()
	for range 3 { // number of loop iterations in which the replica could have been promoted
		seen := other.status().Seen
		await(t, "an iteration of the replica's loop", func() bool { return other.status().Seen > seen })
	}
	h.mustKeep(c.get())
	if other.primary() {
		t.Error("the replica was promoted")
	}
	t.Logf("no failover for %v after the release", time.Since(start).Round(time.Second))
	if r := c.electop("destroy", c.key, "--yes"); r.code == 0 {
		t.Errorf("electop destroyed the session of an unlocked key: %v", r)
	}
	_, err := c.client().KV().Delete(c.key, nil)
	must(t, err)
	t.Logf("%s led %v after the key was deleted", other.name, await(t, "the new primary", other.leads).Round(time.Millisecond))
}

// unlock releases a Patroni key with the transaction that electop uses for other keys. electop itself refuses this
// release.
func (c *cluster) unlock() hold {
	c.t.Helper()
	pair := c.get()
	ok, response, _, err := c.client().KV().Txn(api.KVTxnOps{
		{Verb: api.KVCheckIndex, Key: c.key, Index: pair.ModifyIndex},
		{Verb: api.KVUnlock, Key: c.key, Session: pair.Session, Value: pair.Value, Flags: pair.Flags},
	}, nil)
	if err != nil || !ok {
		c.t.Fatal(ok, response, err)
	}
	return hold{c.stage, *pair}
}

// After the end of a primary, its lease expires, and the replica leads.
func TestPatroniOnEtcd(t *testing.T) {
	t.Parallel()
	needsPatroni(t, "etcd")
	etcd := etcdtest.Shared(t)
	c := &cluster{root: t, scope: "etcd-holders", stage: &stage{t: t}}
	c.holder = func() string {
		got, err := etcd.Get(t.Context(), "/service/"+c.scope+"/leader")
		if err != nil || len(got.Kvs) == 0 {
			return ""
		}
		return string(got.Kvs[0].Value)
	}
	store := "etcd3: {hosts: " + strings.TrimPrefix(etcd.Endpoints()[0], "http://") + "}"
	c.startBoth(store, store)
	r := &race{t: t, etcd: etcd, key: "/service/" + c.scope + "/leader"}
	lease := r.listed()[0]
	watch := start(t, r.electop("watch", "-o", "json"))
	watch.says("elected")
	c.pg1.kill()
	await(t, "the new primary", c.pg2.leads)
	r.ends(watch, lease, "session_expired", nil)
	watch.says(`"leader":"pg2"`)
}
