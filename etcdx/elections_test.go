package etcdx_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"electop/election"
	"electop/election/tracker"
	"electop/etcdx"
	"electop/internal/consultest"
)

func patterns(t testing.TB, texts ...string) election.Patterns {
	t.Helper()
	return consultest.Patterns(t, texts...).Rooted()
}

// stored returns a key: its name, lease, revision of its creation and value.
func stored(key string, lease, revision int64, value string) *mvccpb.KeyValue {
	return &mvccpb.KeyValue{Key: []byte(key), Lease: lease, CreateRevision: revision, ModRevision: revision, Value: []byte(value)}
}

// text formats pairs as "key: session@revision value [waiters]".
func text(pairs []*election.Pair) string {
	var all []string
	for _, p := range pairs {
		line := fmt.Sprintf("%s: %s@%d %s", p.Key, p.Session, p.CreateIndex, p.Value)
		if number := map[bool]uint64{true: p.CreateIndex}[p.Held()]; p.LockIndex != number || p.Flags != 0 {
			line += " invalid"
		}
		if p.ModRevision != p.CreateIndex {
			line += fmt.Sprint(" modified@", p.ModRevision)
		}
		if p.Queue != nil {
			line += " ["
			for _, w := range p.Queue {
				line += fmt.Sprintf(" %s@%d:%s", w.Session, w.Revision, w.Name)
			}
			line += " ]"
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

func TestList(t *testing.T) {
	for _, tt := range []struct {
		name     string
		patterns []string
		kvs      []*mvccpb.KeyValue
		want     string
	}{
		{"etcdctl elect: the lowest CreateRevision leads", []string{"**"}, []*mvccpb.KeyValue{
			stored("election/web/1ab3", 0x1ab3, 12, "node-3"), stored("election/web/1ab1", 0x1ab1, 10, "node-1"), stored("election/web/1ab2", 0x1ab2, 11, "node-2"),
		}, "election/web: 1ab1@10 node-1 [ 1ab2@11:node-2 1ab3@12:node-3 ]"},
		{"a mutex has no value", []string{"**"}, []*mvccpb.KeyValue{stored("lock/1ab1", 0x1ab1, 10, ""), stored("lock/1ab2", 0x1ab2, 11, "")}, "lock: 1ab1@10  [ 1ab2@11:session 1ab2 ]"},
		{"npm's leases are decimal", []string{"**"}, []*mvccpb.KeyValue{stored("election/web/6835", 6835, 10, "a")}, "election/web: 1ab3@10 a [ ]"},
		{"a leading slash", []string{"**"}, []*mvccpb.KeyValue{stored("/master/1ab1", 0x1ab1, 10, "a"), stored("/1ab1", 0x1ab1, 11, ""), stored("1ab1", 0x1ab1, 12, "")}, "/master: 1ab1@10 a [ ]"},
		{"a key without a lease waits, or blocks", []string{"**"}, []*mvccpb.KeyValue{
			stored("a/1ab1", 0x1ab1, 10, "x"), stored("a/config", 0, 11, ""), stored("z/config", 0, 10, ""), stored("z/1ab1", 0x1ab1, 11, "y"),
		}, "a: 1ab1@10 x [ @11:a/config ]\nz: @10  [ @10:z/config 1ab1@11:y ]"},
		{"a candidate of a/b, and a key with another name, block a", []string{"**"}, []*mvccpb.KeyValue{
			stored("a/b/1ab1", 0x1ab1, 10, "x"), stored("a/1ab2", 0x1ab2, 11, "y"), stored("a/b/1ab3", 0x1ab3, 12, "z"), stored("c/config", 0x1ab2, 10, "x"), stored("c/1ab2", 0x1ab2, 11, "y"),
		}, "a: @10  [ @10:a/b/1ab1 1ab2@11:y @12:a/b/1ab3 ]\na/b: 1ab1@10 x [ 1ab3@12:z ]\nc: @10  [ @10:c/config 1ab2@11:y ]"},
		{"Kubernetes", []string{"**", "!/registry/**"}, []*mvccpb.KeyValue{stored("/registry/events/1ab1", 0x1ab1, 10, "x")}, ""},
		{"Patroni's leader, not its members", []string{"/service/*/leader"}, []*mvccpb.KeyValue{
			stored("/service/pg/leader", 0x1ab1, 10, "pg1"), stored("/service/pg/members/pg1", 0x1ab1, 9, "{}"), stored("/service/old/leader", 0, 8, "pg1"),
		}, "/service/pg/leader: 1ab1@10 pg1"},
		{"all queues and one other key", []string{"**", "/locks/a"}, []*mvccpb.KeyValue{
			stored("/locks/a", 0x1ab1, 10, "x"), stored("/locks/b", 0x1ab1, 11, "x"), stored("/q/1ab1", 0x1ab1, 12, "x"),
		}, "/locks/a: 1ab1@10 x\n/q: 1ab1@12 x [ ]"},
		{"the pattern of a queue", []string{"election/*"}, []*mvccpb.KeyValue{stored("election/web/1ab1", 0x1ab1, 10, "a"), stored("other/web/1ab1", 0x1ab1, 11, "a")}, "election/web: 1ab1@10 a [ ]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ps := patterns(t, tt.patterns...)
			got := etcdx.NewElections(ps, etcdx.Single(ps)).List(tt.kvs, 20)
			if got.Range != (election.Range{}) || text(got.Pairs) != tt.want {
				t.Errorf("%s\nwant\n%s", text(got.Pairs), tt.want)
			}
		})
	}
}

// The changes and a list of the result find the same elections.
func TestChangesEqualAList(t *testing.T) {
	ps := patterns(t, "**")
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		single := ps[:seed%2]
		m, kvs, known := etcdx.NewElections(ps, single), map[string]*mvccpb.KeyValue{}, map[string]*election.Pair{}
		revision := int64(1)
		for range 80 {
			var events []*mvccpb.Event
			revision++
			for range 1 + r.IntN(3) {
				lease := int64(r.IntN(4) + 160)
				key := []string{"", "/", "a", "a/b"}[r.IntN(4)] + []string{"/c", "/" + strconv.FormatInt(lease, 16), "/" + strconv.FormatInt(lease, 10)}[r.IntN(3)]
				old := kvs[key]
				if r.IntN(2) == 0 {
					delete(kvs, key)
					events = append(events, &mvccpb.Event{Type: mvccpb.DELETE, Kv: &mvccpb.KeyValue{Key: []byte(key)}, PrevKv: old})
					continue
				}
				kvs[key] = stored(key, lease*int64(r.IntN(3)&1), revision, fmt.Sprint("v", r.IntN(3)))
				if old != nil {
					kvs[key].CreateRevision = old.CreateRevision
				}
				events = append(events, &mvccpb.Event{Kv: kvs[key], PrevKv: old})
			}
			for _, read := range m.Change(events, revision) {
				maps.DeleteFunc(known, func(key string, _ *election.Pair) bool { return read.Range.Contains(key) })
				for _, p := range read.Pairs {
					if !read.Range.Contains(p.Key) || p.ModifyIndex != uint64(revision) {
						t.Fatalf("%+v in %+v", p, read.Range)
					}
					known[p.Key] = p
				}
			}
			want := text(etcdx.NewElections(ps, single).List(slices.Collect(maps.Values(kvs)), revision).Pairs)
			if got := text(slices.SortedFunc(maps.Values(known), election.ComparePairs)); got != want {
				t.Fatalf("seed %d, revision %d:\n%s\nwant\n%s", seed, revision, got, want)
			}
		}
	}
}

func TestRanges(t *testing.T) {
	for _, tt := range []struct{ patterns, want string }{
		{"**", `["" "/registry/") ["/registry0" "")`},
		{"/service/*/leader", `["/service/" "/service0")`},
		{"election/* election/web lock", `["election/" "election0") ["lock" "locl")`},
		{"/registry/leases/*", `["/registry/leases/" "/registry/leases0")`},
		{"** /registry/x/*", `["" "/registry/") ["/registry/x/" "/registry/x0") ["/registry0" "")`},
		{"/*/leader", `["/" "/registry/") ["/registry0" "0")`},
	} {
		var got []string
		for _, r := range etcdx.Ranges(patterns(t, strings.Fields(tt.patterns)...)) {
			got = append(got, fmt.Sprintf("[%q %q)", r.From, r.To))
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s: %s, want %s", tt.patterns, text, tt.want)
		}
	}
}

// A change among 10,000 queues of three candidates: the leader leaves and joins again as the last.
func BenchmarkChange(b *testing.B) {
	ps := patterns(b, "**")
	m, tr := etcdx.NewElections(ps, nil), tracker.New(tracker.Options{Patterns: ps, Store: election.Store{Revisions: true, Leases: true}})
	var kvs []*mvccpb.KeyValue
	for i := range int64(30_000) {
		kvs = append(kvs, stored(fmt.Sprintf("election/svc-%05d/%x", i/3, 1<<40+i), 1<<40+i, i+1, fmt.Sprint("node-", i)))
	}
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	list := m.List(kvs, 30_000)
	list.At = at
	tr.Observe(list)
	revision := int64(30_000)
	for b.Loop() {
		at = at.Add(time.Millisecond)
		i := int(revision) % 10_000 * 3
		slices.SortFunc(kvs[i:i+3], func(a, b *mvccpb.KeyValue) int { return cmp.Compare(a.CreateRevision, b.CreateRevision) })
		first := kvs[i]
		kvs[i] = stored(string(first.Key), first.Lease, revision+2, string(first.Value))
		for _, e := range []*mvccpb.Event{{Type: mvccpb.DELETE, Kv: &mvccpb.KeyValue{Key: first.Key}, PrevKv: first}, {Kv: kvs[i]}} {
			revision++
			for _, read := range m.Change([]*mvccpb.Event{e}, revision) {
				read.At = at
				tr.Observe(read)
			}
		}
	}
}
