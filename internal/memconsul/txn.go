package memconsul

import (
	"encoding/json"
	"fmt"
	"net/http"
)

const (
	maxTxnOps       = 128
	maxTxnBodyBytes = maxValueSize
)

// txnOp is one operation of a transaction. Only operations on keys are supported.
type txnOp struct {
	KV      *txnKVOp
	Node    json.RawMessage
	Service json.RawMessage
	Check   json.RawMessage
}

type txnKVOp struct {
	Verb      string
	Key       string
	Value     []byte
	Flags     uint64
	Index     uint64
	Session   string
	Namespace string
	Partition string
}

func (op *txnKVOp) entry() *entry {
	e := &entry{Key: op.Key, Flags: op.Flags, Session: op.Session, ModifyIndex: op.Index}
	// An empty value is no value, as in a PUT.
	if len(op.Value) > 0 {
		e.Value = op.Value
	}
	return e
}

type txnResult struct {
	KV *entry `json:",omitempty"`
}

type txnError struct {
	OpIndex int
	What    string
}

// txnReply is the response to a transaction that may write.
type txnReply struct {
	Results []txnResult
	Errors  []txnError
}

// txnReadReply is the response to a transaction that only reads. It includes Consul's query metadata.
type txnReadReply struct {
	txnReply
	Index                 uint64
	LastContact           int
	KnownLeader           bool
	ConsistencyLevel      string
	NotModified           bool
	Backend               int
	ResultsFilteredByACLs bool
}

// verbKind says whether a verb reads or writes.
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

func (a *Agent) serveTxn(rq *request) (any, error) {
	ops, err := readTxn(rq)
	if err != nil {
		return nil, err
	}
	writes := false
	for _, op := range ops {
		writes = writes || kindOf(op.Verb) == verbWrites
	}
	reply, vetted := a.store.runTxn(ops, writes)
	code, contentType := http.StatusOK, "application/json"
	if len(reply.Errors) > 0 {
		code, contentType = http.StatusConflict, "application/json; charset=utf-8"
	}
	var body any = reply
	if !writes {
		read := txnReadReply{txnReply: reply, KnownLeader: vetted}
		rq.setLeaderHeaders()
		if vetted {
			read.Index = 1
		} else {
			// Consul rejects such a transaction before it looks for the leader.
			rq.w.Header().Set("X-Consul-Knownleader", "false")
		}
		body = read
	}
	rq.writeJSON(code, contentType, body)
	return nil, nil
}

func readTxn(rq *request) ([]*txnKVOp, error) {
	const seeLimit = "https://developer.hashicorp.com/docs/agent/config/config-files#txn_max_req_len"
	if rq.r.ContentLength > maxTxnBodyBytes {
		return nil, tooLarge("Request body(%d bytes) too large, max size: %d bytes. See %s.",
			rq.r.ContentLength, maxTxnBodyBytes, seeLimit)
	}
	dec := json.NewDecoder(http.MaxBytesReader(nil, rq.r.Body, maxTxnBodyBytes))
	dec.DisallowUnknownFields()
	var ops []txnOp
	if err := dec.Decode(&ops); err != nil {
		if err.Error() == "http: request body too large" {
			return nil, tooLarge("Request body too large, max size: %d bytes. See %s.", maxTxnBodyBytes, seeLimit)
		}
		return nil, badRequest("Failed to parse body: %v", err)
	}
	if len(ops) > maxTxnOps {
		return nil, tooLarge("Transaction contains too many operations (%d > %d)", len(ops), maxTxnOps)
	}
	var kvs []*txnKVOp
	for _, op := range ops {
		switch {
		case op.KV != nil:
			kvs = append(kvs, op.KV)
		case op.Node != nil || op.Service != nil || op.Check != nil:
			return nil, badRequest("memconsul supports only key-value operations")
		}
	}
	return kvs, nil
}

// runTxn applies all operations or none. It reports false if vetTxn rejected them.
func (s *store) runTxn(ops []*txnKVOp, writes bool) (txnReply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errs := s.vetTxn(ops); len(errs) > 0 {
		return txnReply{Errors: errs}, false
	}
	index := s.index
	if writes {
		index = s.nextIndex()
	}
	tx := s.newKVTx(index)
	reply := txnReply{Results: []txnResult{}}
	for i, op := range ops {
		results, err := tx.run(op)
		if err != nil {
			reply.Errors = append(reply.Errors, txnError{i, err.Error()})
			continue
		}
		for _, e := range results {
			reply.Results = append(reply.Results, txnResult{e})
		}
	}
	if len(reply.Errors) > 0 {
		reply.Results = nil
		return reply, true
	}
	tx.commit()
	return reply, true
}

// vetTxn makes the checks that precede the Raft log entry. The lock-delay is one of them, because it depends on the
// clock.
func (s *store) vetTxn(ops []*txnKVOp) []txnError {
	var errs []txnError
	for i, op := range ops {
		switch {
		case op.Key == "" && op.Verb != "delete-tree":
			errs = append(errs, txnError{i, "Must provide key"})
		case kindOf(op.Verb) == verbUnknown:
			errs = append(errs, txnError{i, "unknown KV operation: " + op.Verb})
		case op.Verb == "lock" && s.delays.running(op.Key):
			errs = append(errs, txnError{i, fmt.Sprintf("failed to lock key %q due to lock delay", op.Key)})
		}
	}
	return errs
}

// run applies one operation and returns its results. Only reads return values.
func (tx *kvTx) run(op *txnKVOp) ([]*entry, error) {
	if kindOf(op.Verb) == verbWrites {
		return tx.runWrite(op)
	}
	now := tx.get(op.Key)
	switch op.Verb {
	case "get":
		if now == nil {
			return nil, fmt.Errorf("key %q doesn't exist", op.Key)
		}
		return []*entry{now}, nil
	case "get-or-empty":
		if now == nil {
			now = op.entry()
			now.Value = nil
		}
		return []*entry{now}, nil
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
	return []*entry{withoutValue(now)}, nil
}

func (tx *kvTx) runWrite(op *txnKVOp) ([]*entry, error) {
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
	return []*entry{withoutValue(e)}, nil
}

func withoutValue(e *entry) *entry {
	shown := *e
	shown.Value = nil
	return &shown
}
