package store

import (
	"fmt"
	"slices"
)

// TxnOp is one operation of a transaction on a key, as the HTTP API receives it.
type TxnOp struct {
	Verb      string
	Key       string
	Value     []byte
	Flags     uint64
	Index     uint64
	Session   string
	Namespace string
	Partition string
}

// Writes reports whether the operation can change a key.
func (op *TxnOp) Writes() bool { return kindOf(op.Verb) == verbWrites }

func (op *TxnOp) entry() *Entry {
	e := &Entry{Key: op.Key, Flags: op.Flags, Session: op.Session, ModifyIndex: op.Index}
	// An empty value becomes nil, as in a PUT.
	if len(op.Value) > 0 {
		e.Value = op.Value
	}
	return e
}

// TxnResult is the result of one operation.
type TxnResult struct {
	KV *Entry `json:",omitempty"`
}

// TxnError is the error of one operation. OpIndex is the position of the operation.
type TxnError struct {
	OpIndex int
	What    string
}

// TxnReply is the response to a transaction that may write.
type TxnReply struct {
	Results []TxnResult
	Errors  []TxnError
}

// verbKind is the kind of a verb: whether it reads or writes.
type verbKind uint8

const (
	verbUnknown verbKind = iota
	verbReads
	verbWrites
)

func kindOf(verb string) verbKind {
	switch verb {
	case "get", "get-tree", "get-or-empty", "check-index", "check-session", "check-not-exists":
		return verbReads
	case "set", "cas", "lock", "unlock", "delete", "delete-tree", "delete-cas":
		return verbWrites
	default:
		return verbUnknown
	}
}

// RunTxn applies all operations or none. It returns false if it rejected the transaction before the first operation.
func (s *Store) RunTxn(ops []*TxnOp) (TxnReply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errs := s.vetTxn(ops); len(errs) > 0 {
		return TxnReply{Errors: errs}, false
	}
	index := s.index
	if slices.ContainsFunc(ops, (*TxnOp).Writes) {
		index = s.nextIndex()
	}
	tx := s.newKVTx(index)
	reply := TxnReply{Results: []TxnResult{}}
	for i, op := range ops {
		results, err := tx.run(op)
		if err != nil {
			reply.Errors = append(reply.Errors, TxnError{i, err.Error()})
			continue
		}
		for _, e := range results {
			reply.Results = append(reply.Results, TxnResult{e})
		}
	}
	if len(reply.Errors) > 0 {
		reply.Results = nil
		return reply, true
	}
	tx.commit()
	return reply, true
}

// vetTxn checks the operations before the transaction becomes a Raft log entry. It also checks the lock-delay,
// because the lock-delay depends on the leader's clock.
func (s *Store) vetTxn(ops []*TxnOp) []TxnError {
	var errs []TxnError
	for i, op := range ops {
		switch {
		case op.Key == "" && op.Verb != "delete-tree":
			errs = append(errs, TxnError{i, "Must provide key"})
		case kindOf(op.Verb) == verbUnknown:
			errs = append(errs, TxnError{i, "unknown KV operation: " + op.Verb})
		case op.Verb == "lock" && s.delays.running(op.Key):
			errs = append(errs, TxnError{i, fmt.Sprintf("failed to lock key %q due to lock delay", op.Key)})
		}
	}
	return errs
}

// run applies one operation and returns its results. Only the results of reads have values.
func (tx *kvTx) run(op *TxnOp) ([]*Entry, error) {
	if op.Writes() {
		return tx.runWrite(op)
	}
	now := tx.get(op.Key)
	switch op.Verb {
	case "get":
		if now == nil {
			return nil, fmt.Errorf("key %q doesn't exist", op.Key)
		}
		return []*Entry{now}, nil
	case "get-or-empty":
		if now == nil {
			now = op.entry()
			now.Value = nil
		}
		return []*Entry{now}, nil
	case "get-tree":
		return tx.list(op.Key), nil
	case "check-not-exists":
		if now != nil {
			return nil, fmt.Errorf("key %q exists", op.Key)
		}
		return nil, nil
	case "check-index":
		if now == nil {
			return nil, fmt.Errorf("failed to check index, key %q doesn't exist", op.Key)
		}
		if now.ModifyIndex != op.Index {
			return nil, fmt.Errorf("failed index check for key %q, current modify index %d != %d", op.Key, now.ModifyIndex, op.Index)
		}
	default: // check-session
		if now == nil {
			return nil, fmt.Errorf("failed to check session, key %q doesn't exist", op.Key)
		}
		if now.Session != op.Session {
			return nil, fmt.Errorf("failed session check for key %q, current session %q != %q", op.Key, now.Session, op.Session)
		}
	}
	return []*Entry{withoutValue(now)}, nil
}

func (tx *kvTx) runWrite(op *TxnOp) ([]*Entry, error) {
	e := op.entry()
	ok, err, refusal := true, error(nil), ""
	switch op.Verb {
	case "delete":
		tx.remove(op.Key)
		return nil, nil
	case "delete-tree":
		tx.removeTree(op.Key)
		return nil, nil
	case "delete-cas":
		if !tx.removeCAS(op.Key, op.Index) {
			return nil, fmt.Errorf("failed to delete key %q, index is stale", op.Key)
		}
		return nil, nil
	case "set":
		tx.set(e)
	case "cas":
		ok, refusal = tx.cas(e), "failed to set key %q, index is stale"
	case "lock":
		ok, err = tx.lock(e)
		refusal = "failed to lock key %q, lock is already held"
	default: // unlock
		ok, err = tx.unlock(e)
		refusal = "failed to unlock key %q, lock isn't held, or is held by another session"
	}
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf(refusal, op.Key)
	}
	return []*Entry{withoutValue(e)}, nil
}

func withoutValue(e *Entry) *Entry {
	shown := *e
	shown.Value = nil
	return &shown
}
