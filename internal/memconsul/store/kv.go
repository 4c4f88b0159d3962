package store

import (
	"bytes"
	"slices"
	"strings"
)

// Entry is one key in the form of the HTTP API. Value is nil for an empty value.
type Entry struct {
	LockIndex   uint64
	Key         string
	Flags       uint64
	Value       []byte
	Session     string `json:",omitempty"`
	CreateIndex uint64
	ModifyIndex uint64
}

func (e *Entry) sameContent(o *Entry) bool {
	return e.LockIndex == o.LockIndex && e.Flags == o.Flags && e.Session == o.Session && bytes.Equal(e.Value, o.Value)
}

// kvTable is the committed key-value state.
type kvTable struct {
	entries    map[string]*Entry
	sorted     []string          // keys of entries, sorted
	tombstones map[string]uint64 // deleted keys and prefixes, each with the index of its deletion
	index      uint64            // index of the latest change
	bySess     map[string]map[string]struct{}
}

// under returns the keys that begin with the prefix, sorted.
func (t *kvTable) under(prefix string) []string {
	from, _ := slices.BinarySearch(t.sorted, prefix)
	to := from
	for to < len(t.sorted) && strings.HasPrefix(t.sorted[to], prefix) {
		to++
	}
	return t.sorted[from:to]
}

func (t *kvTable) put(e *Entry) {
	old := t.entries[e.Key]
	if old == nil {
		at, _ := slices.BinarySearch(t.sorted, e.Key)
		t.sorted = slices.Insert(t.sorted, at, e.Key)
	} else {
		t.unlink(old)
	}
	t.entries[e.Key] = e
	if e.Session != "" {
		held := t.bySess[Fold(e.Session)]
		if held == nil {
			held = map[string]struct{}{}
			t.bySess[Fold(e.Session)] = held
		}
		held[e.Key] = struct{}{}
	}
}

func (t *kvTable) drop(key string) {
	old := t.entries[key]
	if old == nil {
		return
	}
	t.unlink(old)
	delete(t.entries, key)
	at, _ := slices.BinarySearch(t.sorted, key)
	t.sorted = slices.Delete(t.sorted, at, at+1)
}

func (t *kvTable) unlink(e *Entry) {
	if held := t.bySess[Fold(e.Session)]; held != nil {
		delete(held, e.Key)
		if len(held) == 0 {
			delete(t.bySess, Fold(e.Session))
		}
	}
}

// heldBy returns the keys that a session holds, sorted.
func (t *kvTable) heldBy(session string) []string {
	keys := make([]string, 0, len(t.bySess[Fold(session)]))
	for key := range t.bySess[Fold(session)] {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// listIndex returns the X-Consul-Index of a list of the prefix: the index of the latest change or deletion under the
// prefix, or the table's index if no key was ever under the prefix.
func (t *kvTable) listIndex(prefix string, entries []*Entry) uint64 {
	if prefix == "" {
		return t.index
	}
	var newest uint64
	for _, e := range entries {
		newest = max(newest, e.ModifyIndex)
	}
	for tombstone, index := range t.tombstones {
		if strings.HasPrefix(tombstone, prefix) {
			newest = max(newest, index)
		}
	}
	if newest == 0 {
		return t.index
	}
	return newest
}

// Key returns a query for one key. The body is nil if the key does not exist.
func (s *Store) Key(key string) Query[*Entry] {
	return Query[*Entry]{s, topic{topicKey, key}, func(s *Store) Result[*Entry] {
		e := s.kv.entries[key]
		if e == nil {
			return Result[*Entry]{Index: s.kv.index, missing: true}
		}
		return Result[*Entry]{Index: e.ModifyIndex, Body: e}
	}}
}

// Keys returns a query for all keys that begin with the prefix, sorted.
func (s *Store) Keys(prefix string) Query[[]*Entry] {
	return Query[[]*Entry]{s, topic{topicPrefix, prefix}, func(s *Store) Result[[]*Entry] {
		keys := s.kv.under(prefix)
		entries := make([]*Entry, len(keys))
		for i, key := range keys {
			entries[i] = s.kv.entries[key]
		}
		return Result[[]*Entry]{Index: s.kv.listIndex(prefix, entries), Body: entries}
	}}
}
