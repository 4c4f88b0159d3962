package memconsul

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// entry is one key as the HTTP API shows it.
type entry struct {
	LockIndex   uint64
	Key         string
	Flags       uint64
	Value       []byte
	Session     string `json:",omitempty"`
	CreateIndex uint64
	ModifyIndex uint64
}

func (e *entry) sameContent(o *entry) bool {
	return e.LockIndex == o.LockIndex && e.Flags == o.Flags && e.Session == o.Session && bytes.Equal(e.Value, o.Value)
}

// kvTable is the committed key-value state.
type kvTable struct {
	entries    map[string]*entry
	sorted     []string          // the keys of entries
	tombstones map[string]uint64 // deleted keys and prefixes, with the index of their deletion
	index      uint64            // of the latest change
	bySess     map[string]map[string]struct{}
}

func newKVTable() kvTable {
	return kvTable{
		entries:    map[string]*entry{},
		tombstones: map[string]uint64{},
		bySess:     map[string]map[string]struct{}{},
	}
}

// under returns the committed keys with the prefix, sorted.
func (t *kvTable) under(prefix string) []string {
	from, _ := slices.BinarySearch(t.sorted, prefix)
	to := from
	for to < len(t.sorted) && strings.HasPrefix(t.sorted[to], prefix) {
		to++
	}
	return t.sorted[from:to]
}

func (t *kvTable) put(e *entry) {
	old := t.entries[e.Key]
	if old == nil {
		at, _ := slices.BinarySearch(t.sorted, e.Key)
		t.sorted = slices.Insert(t.sorted, at, e.Key)
	} else {
		t.unlink(old)
	}
	t.entries[e.Key] = e
	if e.Session != "" {
		held := t.bySess[e.Session]
		if held == nil {
			held = map[string]struct{}{}
			t.bySess[e.Session] = held
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

func (t *kvTable) unlink(e *entry) {
	if held := t.bySess[e.Session]; held != nil {
		delete(held, e.Key)
		if len(held) == 0 {
			delete(t.bySess, e.Session)
		}
	}
}

// heldBy returns the keys that a session holds, sorted.
func (t *kvTable) heldBy(session string) []string {
	keys := make([]string, 0, len(t.bySess[session]))
	for key := range t.bySess[session] {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// listIndex returns the X-Consul-Index of a listing of the prefix: that of the latest change or deletion under it, or
// the table's index if there never was a key under it.
func (t *kvTable) listIndex(prefix string, entries []*entry) uint64 {
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

// kvTx collects the changes of one write request, which are committed together or discarded.
type kvTx struct {
	store      *store
	index      uint64
	changed    map[string]*entry // nil: deleted
	tombstones []string
}

// newKVTx begins a transaction with the given index. The caller holds the mutex until commit returns.
func (s *store) newKVTx(index uint64) *kvTx {
	return &kvTx{store: s, index: index, changed: map[string]*entry{}}
}

func (tx *kvTx) commit() {
	t := &tx.store.kv
	if len(tx.changed) == 0 {
		return
	}
	for key, e := range tx.changed {
		if e == nil {
			t.drop(key)
		} else {
			t.put(e)
		}
		tx.store.notifyKey(key)
	}
	for _, tombstone := range tx.tombstones {
		t.tombstones[tombstone] = tx.index
	}
	t.index = tx.index
}

func (tx *kvTx) get(key string) *entry {
	if e, ok := tx.changed[key]; ok {
		return e
	}
	return tx.store.kv.entries[key]
}

func (tx *kvTx) list(prefix string) []*entry {
	keys := tx.store.kv.under(prefix)
	if len(tx.changed) > 0 {
		keys = slices.Clone(keys)
		for key := range tx.changed {
			if strings.HasPrefix(key, prefix) {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
	}
	var out []*entry
	for _, key := range keys {
		if e := tx.get(key); e != nil {
			out = append(out, e)
		}
	}
	return out
}

// write stores e, unless the key already has this content. It sets the indexes of e.
func (tx *kvTx) write(e *entry) {
	old := tx.get(e.Key)
	if old == nil {
		e.CreateIndex = tx.index
	} else {
		e.CreateIndex = old.CreateIndex
		if old.sameContent(e) {
			e.ModifyIndex = old.ModifyIndex
			return
		}
	}
	e.ModifyIndex = tx.index
	tx.changed[e.Key] = e
}

// set writes without checking the lock: the session stays, and LockIndex becomes that of e, which is 0 in every
// request.
func (tx *kvTx) set(e *entry) {
	e.Session = ""
	if old := tx.get(e.Key); old != nil {
		e.Session = old.Session
	}
	tx.write(e)
}

// cas calls set if the key's ModifyIndex equals that of e, where 0 stands for a missing key.
func (tx *kvTx) cas(e *entry) bool {
	var now uint64
	if old := tx.get(e.Key); old != nil {
		now = old.ModifyIndex
	}
	if now != e.ModifyIndex {
		return false
	}
	tx.set(e)
	return true
}

// lock acquires the key for e.Session. It reports false if another session holds it, and an error if the session does
// not exist. The caller checks the lock-delay.
func (tx *kvTx) lock(e *entry) (bool, error) {
	if e.Session == "" {
		return false, errors.New("missing session")
	}
	if tx.store.sessions.byID[e.Session] == nil {
		return false, fmt.Errorf("invalid session %q", e.Session)
	}
	old := tx.get(e.Key)
	switch {
	case old == nil:
		e.LockIndex = 1
	case old.Session == e.Session:
		e.LockIndex = old.LockIndex
	case old.Session != "":
		return false, nil
	default:
		e.LockIndex = old.LockIndex + 1
	}
	tx.write(e)
	return true, nil
}

// unlock releases the key if e.Session holds it, and sets its value and flags to those of e.
func (tx *kvTx) unlock(e *entry) (bool, error) {
	if e.Session == "" {
		return false, errors.New("missing session")
	}
	old := tx.get(e.Key)
	if old == nil || old.Session != e.Session {
		return false, nil
	}
	e.Session = ""
	e.LockIndex = old.LockIndex
	tx.write(e)
	return true, nil
}

func (tx *kvTx) remove(key string) {
	if tx.get(key) == nil {
		return
	}
	tx.changed[key] = nil
	tx.tombstones = append(tx.tombstones, key)
}

// removeCAS removes the key if its ModifyIndex equals index. A missing key counts as removed.
func (tx *kvTx) removeCAS(key string, index uint64) bool {
	old := tx.get(key)
	if old == nil {
		return true
	}
	if old.ModifyIndex != index {
		return false
	}
	tx.remove(key)
	return true
}

func (tx *kvTx) removeTree(prefix string) {
	gone := tx.list(prefix)
	for _, e := range gone {
		tx.changed[e.Key] = nil
	}
	// A listing of all keys uses the table's index, so the empty prefix needs no tombstone.
	if len(gone) > 0 && prefix != "" {
		tx.tombstones = append(tx.tombstones, prefix)
	}
}
