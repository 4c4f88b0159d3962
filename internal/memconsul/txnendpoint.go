package memconsul

import (
	"encoding/json"
	"net/http"
	"slices"

	"electop/internal/memconsul/store"
)

const (
	maxTxnOps       = 128
	maxTxnBodyBytes = maxValueSize
)

// txnOp is one operation of a transaction. Only operations on keys are supported.
type txnOp struct {
	KV      *store.TxnOp
	Node    json.RawMessage
	Service json.RawMessage
	Check   json.RawMessage
}

// txnReadReply is the response to a transaction without writes. It includes Consul's query metadata.
type txnReadReply struct {
	store.TxnReply
	Index                 uint64
	LastContact           int
	KnownLeader           bool
	ConsistencyLevel      string
	NotModified           bool
	Backend               int
	ResultsFilteredByACLs bool
}

func (a *Agent) serveTxn(rq *request) (any, error) {
	ops, err := readTxn(rq)
	if err != nil {
		return nil, err
	}
	reply, vetted := a.store.RunTxn(ops)
	code, contentType := http.StatusOK, "application/json"
	if len(reply.Errors) > 0 {
		code, contentType = http.StatusConflict, "application/json; charset=utf-8"
	}
	var body any = reply
	if !slices.ContainsFunc(ops, (*store.TxnOp).Writes) {
		read := txnReadReply{TxnReply: reply, KnownLeader: vetted}
		rq.setLeaderHeaders()
		if vetted {
			read.Index = 1
		} else {
			// Consul rejects an invalid transaction without contacting the consensus leader.
			rq.w.Header().Set("X-Consul-Knownleader", "false")
		}
		body = read
	}
	rq.writeJSON(code, contentType, body)
	return nil, nil
}

func readTxn(rq *request) ([]*store.TxnOp, error) {
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
	var kvs []*store.TxnOp
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
