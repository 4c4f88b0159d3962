package etcdx

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"electop/election"
)

// Elections finds the elections among keys, and keeps them current. A queue is a prefix with a candidate: a key whose
// last segment is its own lease. Every key below the prefix belongs to the queue, as for etcd's own clients. If the first
// is not a candidate of this queue, it blocks the others.
type Elections struct {
	patterns election.Patterns
	single   election.Patterns
	folders  bool            // only the keys of a folder belong to its queue, as in the v2 API
	known    map[string]bool // keys that are elections also outside of queues
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

// electionsOf returns the elections that the patterns select in an API.
func electionsOf(c API, ps election.Patterns) *Elections {
	m := NewElections(ps, Single(ps))
	_, m.folders = c.(*V2)
	return m
}

// List replaces all keys. The result contains every election, in the range of all keys.
func (m *Elections) List(kvs []*mvccpb.KeyValue, revision int64) election.KeysRead {
	m.root = node{}
	leased := 0
	for _, kv := range kvs {
		if m.root.set(string(kv.Key), 0, kv); kv.Lease != 0 {
			leased++
		}
	}
	all := election.KeysRead{Index: uint64(revision), Pairs: make([]*election.Pair, 0, leased)} //nolint:gosec // revisions are positive
	m.root.walk(func(n *node) {
		if pair, ok := m.pair(n, revision); ok {
			all.Pairs = append(all.Pairs, &pair)
		}
	})
	slices.SortFunc(all.Pairs, election.ComparePairs)
	return all
}

// Recall returns a history without the keys that exist, but that the patterns do not select: whether a recorded key is that
// of a queue is unknown. From now on, the other recorded keys are elections also outside of queues.
func (m *Elections) Recall(past election.HistoryRead) election.HistoryRead {
	known := map[string]bool{}
	past.Elections = election.Without(past.Elections, func(e *election.Election) bool {
		n := m.root.find(e.Key())
		_, selected := m.pair(n, 0)
		known[e.Key()] = selected || n == nil || n.kv == nil || n.kv.Lease == 0
		return !known[e.Key()]
	})
	m.known = known
	return past
}

// Change applies the changes of one revision. Each result contains one election, in the range of only its key, so that a
// tracker compares no other election.
func (m *Elections) Change(events []*mvccpb.Event, revision int64) (changed []election.KeysRead) {
	var keys []string
	for _, e := range events {
		key, kv := string(e.Kv.Key), e.Kv
		if e.Type == mvccpb.DELETE {
			kv = nil
		}
		m.root.set(key, 0, kv)
		for i := range len(key) {
			if key[i] == '/' {
				keys = append(keys, key[:i])
			}
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if m.patterns.Selects(key) {
			read := election.KeysRead{Range: election.KeyRange(key), Index: uint64(revision)} //nolint:gosec // as above
			if pair, ok := m.pair(m.root.find(key), revision); ok {
				read.Pairs = election.Pairs(pair)
			}
			changed = append(changed, read)
		}
	}
	return changed
}

// pair returns the election of a node.
func (m *Elections) pair(n *node, revision int64) (p election.Pair, ok bool) {
	if n == nil || n.candidates == 0 && (n.kv == nil || n.kv.Lease == 0 || n.candidate) {
		return p, false
	}
	ps := m.patterns
	if n.candidates == 0 && !m.known[n.key] {
		ps = m.single
	}
	if !ps.Selects(n.key) {
		return p, false
	}
	p = election.Pair{Key: n.key, ModifyIndex: uint64(revision)} //nolint:gosec // revisions are positive
	keys := []*node{n}
	if n.candidates > 0 {
		keys, p.Queue = nil, []election.Waiter{}
		n.walk(func(below *node) {
			if below.kv != nil && (!m.folders || below.parent == n) {
				keys = append(keys, below)
			}
		})
		slices.SortFunc(keys, func(a, b *node) int {
			return cmp.Or(cmp.Compare(a.kv.CreateRevision, b.kv.CreateRevision), cmp.Compare(a.key, b.key))
		})
	}
	for i, key := range keys {
		kv := key.kv
		w := election.Waiter{Revision: uint64(kv.CreateRevision)} //nolint:gosec // as above
		if p.Queue != nil && (!key.candidate || key.parent != n) {
			w.Name = election.Label(key.key)
		} else if w.Session = strconv.FormatInt(kv.Lease, 16); i == 0 {
			p.Value, p.LockIndex = kv.Value, w.Revision
		} else {
			w.Name = election.LeaderLabel(election.Pair{Value: kv.Value, Session: w.Session}, nil)
		}
		if i == 0 {
			p.Session, p.CreateIndex, p.ModRevision = w.Session, w.Revision, uint64(kv.ModRevision) //nolint:gosec // as above
		}
		if i > 0 || w.Session == "" {
			p.Queue = append(p.Queue, w)
		}
	}
	return p, true
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
	return all
}

// node is a key, or a prefix of keys that ends before a "/".
type node struct {
	key        string
	parent     *node
	kv         *mvccpb.KeyValue // nil if there is no such key
	candidate  bool             // the last segment is the key's own lease
	candidates int              // number of children that are candidates
	children   []*node          // in the order of their keys
}

// child returns the position of the child on the way to a key, and its key.
func (n *node) child(key string, from int) (path string, i int, found bool) {
	path = key
	if end := strings.IndexByte(key[from:], '/'); end >= 0 {
		path = key[:from+end]
	}
	i, found = slices.BinarySearchFunc(n.children, path, func(n *node, key string) int { return strings.Compare(n.key, key) })
	return path, i, found
}

// set stores a key below n, whose segments before from are those of n, or deletes it if kv is nil.
func (n *node) set(key string, from int, kv *mvccpb.KeyValue) {
	path, i, found := n.child(key, from)
	if !found {
		n.children = slices.Insert(n.children, i, &node{key: path, parent: n})
	}
	child := n.children[i]
	if child.candidate {
		n.candidates--
	}
	if len(path) < len(key) {
		child.set(key, len(path)+1, kv)
	} else {
		child.kv = kv
		child.candidate = kv != nil && candidate(key[from:], kv.Lease)
	}
	if child.candidate {
		n.candidates++
	}
	if child.kv == nil && len(child.children) == 0 {
		n.children = slices.Delete(n.children, i, i+1)
	}
}

// candidate reports whether the last segment of a key is its own lease, in hexadecimal or decimal digits. The v2 API has 20.
func candidate(name string, lease int64) bool {
	return lease != 0 && (name == strconv.FormatInt(lease, 16) || strings.TrimLeft(name, "0") == strconv.FormatInt(lease, 10))
}

// find returns the node of a key, or nil.
func (n *node) find(key string) *node {
	for from := 0; from <= len(key); {
		path, i, found := n.child(key, from)
		if !found {
			return nil
		}
		n, from = n.children[i], len(path)+1
	}
	return n
}

// walk calls f for every node below n.
func (n *node) walk(f func(*node)) {
	for _, child := range n.children {
		f(child)
		child.walk(f)
	}
}
