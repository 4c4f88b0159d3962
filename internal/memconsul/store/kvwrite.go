package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Set stores the value and flags of e, even if a session holds the key.
func (s *Store) Set(e *Entry) {
	s.write(func(tx *kvTx) { tx.set(e) })
}

// CAS calls Set if the key's ModifyIndex equals e.ModifyIndex; 0 means that the key must not exist. It reports
// whether it called Set.
func (s *Store) CAS(e *Entry) (ok bool) {
	s.write(func(tx *kvTx) { ok = tx.cas(e) })
	return ok
}

// Acquire stores e and locks its key for e.Session. It returns false if another session holds the key or a lock-delay
// is active, and an error if the session does not exist.
func (s *Store) Acquire(e *Entry) (ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Like Consul, check the lock-delay before the write, so that a rejected acquire does not increase an index.
	if s.delays.running(e.Key) {
		return false, nil
	}
	s.writeLocked(func(tx *kvTx) { ok, err = tx.lock(e) })
	return ok, applyFailed(err)
}

// Release stores e and unlocks its key. It returns false if e.Session does not hold the key.
func (s *Store) Release(e *Entry) (ok bool, err error) {
	s.write(func(tx *kvTx) { ok, err = tx.unlock(e) })
	return ok, applyFailed(err)
}

// Delete removes the key if it exists.
func (s *Store) Delete(key string) {
	s.write(func(tx *kvTx) { tx.remove(key) })
}

// DeleteCAS removes the key if its ModifyIndex equals index. It returns true if the key does not exist afterwards.
func (s *Store) DeleteCAS(key string, index uint64) (ok bool) {
	s.write(func(tx *kvTx) { ok = tx.removeCAS(key, index) })
	return ok
}

// DeleteTree removes all keys that begin with the prefix.
func (s *Store) DeleteTree(prefix string) {
	s.write(func(tx *kvTx) { tx.removeTree(prefix) })
}

func (s *Store) write(change func(*kvTx)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeLocked(change)
}

// writeLocked commits the changes of one write request. The caller holds the mutex.
func (s *Store) writeLocked(change func(*kvTx)) {
	tx := s.newKVTx(s.nextIndex())
	change(tx)
	tx.commit()
}

func applyFailed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("raft apply failed: %w", err)
}

// kvTx collects the changes of one write request. Either all changes are committed or none.
type kvTx struct {
	store      *Store
	index      uint64
	changed    map[string]*Entry // nil for a deleted key
	tombstones []string
}

// newKVTx begins a transaction with the given index. The caller holds the mutex until commit returns.
func (s *Store) newKVTx(index uint64) *kvTx {
	return &kvTx{store: s, index: index, changed: map[string]*Entry{}}
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

func (tx *kvTx) get(key string) *Entry {
	if e, ok := tx.changed[key]; ok {
		return e
	}
	return tx.store.kv.entries[key]
}

func (tx *kvTx) list(prefix string) []*Entry {
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
	var out []*Entry
	for _, key := range keys {
		if e := tx.get(key); e != nil {
			out = append(out, e)
		}
	}
	return out
}

// write stores e and sets its indexes. It does nothing if the key already has the content of e.
func (tx *kvTx) write(e *Entry) {
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

// set stores e without checking the lock: the session of the key remains, and LockIndex becomes e.LockIndex, which is
// 0 in every request.
func (tx *kvTx) set(e *Entry) {
	e.Session = ""
	if old := tx.get(e.Key); old != nil {
		e.Session = old.Session
	}
	tx.write(e)
}

// cas calls set if the key's ModifyIndex equals e.ModifyIndex; 0 means that the key must not exist.
func (tx *kvTx) cas(e *Entry) bool {
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

// lock acquires the key for e.Session. It returns false if another session holds the key, and an error if the session
// does not exist. The caller checks the lock-delay.
func (tx *kvTx) lock(e *Entry) (bool, error) {
	if e.Session == "" {
		return false, errors.New("missing session")
	}
	if tx.store.sessions.byID[Fold(e.Session)] == nil {
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
func (tx *kvTx) unlock(e *Entry) (bool, error) {
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

// removeCAS removes the key if its ModifyIndex equals index. It also returns true if the key does not exist.
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
	// The deletion of all keys needs no tombstone, because a list of all keys has the table's index.
	if len(gone) > 0 && prefix != "" {
		tx.tombstones = append(tx.tombstones, prefix)
	}
}
