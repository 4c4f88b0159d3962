package etcdx

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"electop/election"
)

// Elections finds the elections among keys, and keeps them current. A queue is a prefix with a candidate: a key whose
// last segment is its own lease. Every key below the prefix belongs to the queue, as for etcd's own clients.
type Elections struct {
	patterns election.Patterns
	single   election.Patterns
	root     node
}

// NewElections returns the queues that the patterns select, and the other keys with a lease that single selects.
func NewElections(patterns, single election.Patterns) *Elections {
	return &Elections{patterns: patterns, single: single}
}

// Single returns the patterns that also select keys outside of queues: all except [DefaultPattern], because many programs
// register themselves in keys with leases.
func Single(ps election.Patterns) election.Patterns {
	return election.Without(ps, func(p election.Pattern) bool { return p.String() == DefaultPattern })
}

// List replaces all keys. The result contains every election, in the range of all keys.
func (m *Elections) List(kvs []*mvccpb.KeyValue, revision int64) election.KeysRead {
	m.root = node{}
	leased := 0
	for _, kv := range kvs {
		if m.root.set(string(kv.Key), kv); kv.Lease != 0 {
			leased++
		}
	}
	all := election.KeysRead{Index: uint64(revision), Pairs: make([]election.Pair, 0, leased)} //nolint:gosec // revisions are positive
	for name, n := range m.root.children {
		n.walk(name, func(key string, n *node) { all.Pairs = append(all.Pairs, m.pairs(key, n, revision)...) })
	}
	slices.SortFunc(all.Pairs, election.ComparePairs)
	return all
}

// Change applies the changes of one revision. Each result contains one election, in the range of only its key, so that a
// tracker compares no other election.
func (m *Elections) Change(events []*mvccpb.Event, revision int64) (changed []election.KeysRead) {
	var keys []string
	for _, e := range events {
		key, kv := string(e.Kv.Key), e.Kv
		switch {
		case e.Type == mvccpb.DELETE:
			kv = nil
		case kv.Lease == 0: // the value may be large
			kv = &mvccpb.KeyValue{Key: kv.Key, CreateRevision: kv.CreateRevision}
		}
		m.root.set(key, kv)
		for i := range len(key) {
			if key[i] == '/' {
				keys = append(keys, key[:i])
			}
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if _, selected := m.patterns.Match(key); selected {
			changed = append(changed, election.KeysRead{Range: election.KeyRange(key), Index: uint64(revision), Pairs: m.pairs(key, m.root.find(key), revision)}) //nolint:gosec // as above
		}
	}
	return changed
}

// pairs returns the election of a node, or nothing if there is none.
func (m *Elections) pairs(key string, n *node, revision int64) []election.Pair {
	if n == nil || n.candidates == 0 && (n.kv == nil || n.kv.Lease == 0 || n.candidate) {
		return nil
	}
	ps := m.patterns
	if n.candidates == 0 {
		ps = m.single
	}
	if _, selected := ps.Match(key); !selected {
		return nil
	}
	p := election.Pair{Key: key, ModifyIndex: uint64(revision)} //nolint:gosec // revisions are positive
	var keys []*mvccpb.KeyValue
	if n.candidates == 0 {
		keys = append(keys, n.kv)
	} else {
		p.Queue = []election.Waiter{}
		n.walk(key, func(_ string, below *node) {
			if below.kv != nil && below != n {
				keys = append(keys, below.kv)
			}
		})
		slices.SortFunc(keys, func(a, b *mvccpb.KeyValue) int {
			return cmp.Or(cmp.Compare(a.CreateRevision, b.CreateRevision), bytes.Compare(a.Key, b.Key))
		})
	}
	for i, kv := range keys {
		w := election.Waiter{Revision: uint64(kv.CreateRevision)} //nolint:gosec // as above
		if kv.Lease == 0 {
			w.Name = election.Label(string(kv.Key))
		} else if w.Session = strconv.FormatInt(kv.Lease, 16); i > 0 {
			w.Name = election.LeaderLabel(election.Pair{Value: kv.Value, Session: w.Session}, nil)
		}
		if i == 0 {
			p.Session, p.CreateIndex, p.LockIndex = w.Session, w.Revision, w.Revision
			if kv.Lease != 0 {
				p.Value = kv.Value
			}
		}
		if i > 0 || w.Session == "" {
			p.Queue = append(p.Queue, w)
		}
	}
	return []election.Pair{p}
}

// Ranges returns the disjoint ranges of keys that contain the elections of the patterns. Kubernetes has its keys below
// /registry/: they are included only if a pattern names them.
func Ranges(patterns election.Patterns) []election.Range {
	var all election.RangeSet
	without := election.PrefixRange("/registry/")
	for _, p := range patterns.Selecting() {
		r := election.PrefixRange(p.Prefix())
		if r.From < without.From && (r.To == "" || r.To > without.To) {
			all.Add(election.Range{From: r.From, To: without.From})
			r.From = without.To
		}
		all.Add(r)
	}
	return all.Ranges
}

// node is a segment of keys.
type node struct {
	kv         *mvccpb.KeyValue // nil if there is no key here
	candidate  bool             // the segment is the key's own lease
	candidates int              // number of children that are candidates
	children   map[string]*node
}

// set stores a key, or deletes it if kv is nil.
func (n *node) set(key string, kv *mvccpb.KeyValue) {
	name, rest, deeper := strings.Cut(key, "/")
	child := n.children[name]
	if child == nil {
		if child = (&node{}); n.children == nil {
			n.children = map[string]*node{}
		}
		n.children[name] = child
	}
	if child.candidate {
		n.candidates--
	}
	if deeper {
		child.set(rest, kv)
	} else {
		child.kv = kv
		child.candidate = kv != nil && candidate(name, kv.Lease)
	}
	if child.candidate {
		n.candidates++
	}
	if child.kv == nil && len(child.children) == 0 {
		delete(n.children, name)
	}
}

// candidate reports whether the last segment of a key is its own lease, in hexadecimal or decimal digits. The v2 API has 20.
func candidate(name string, lease int64) bool {
	return lease != 0 && (name == strconv.FormatInt(lease, 16) || strings.TrimLeft(name, "0") == strconv.FormatInt(lease, 10))
}

// find returns the node of a key, or nil.
func (n *node) find(key string) *node {
	for name := range strings.SplitSeq(key, "/") {
		if n = n.children[name]; n == nil {
			break
		}
	}
	return n
}

// walk calls f for the node with this key and every node below it.
func (n *node) walk(key string, f func(key string, n *node)) {
	f(key, n)
	for name, child := range n.children {
		child.walk(key+"/"+name, f)
	}
}
