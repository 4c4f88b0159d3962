package history

import (
	"time"

	"electop/election"
)

// Results of an action.
const (
	ResultDone        = "done"
	ResultFailed      = "failed"
	ResultUnconfirmed = "unconfirmed" // the write may have been applied
)

// Action is an action that an operator performed with electop.
type Action struct {
	Time time.Time `json:"time"`
	// By is the operator, as user@host.
	By         string              `json:"by"`
	Kind       election.ActionKind `json:"action"`
	Datacenter string              `json:"datacenter"`
	// Key is empty for a destroy of a session that was selected by its ID.
	Key string `json:"key,omitempty"`
	// Session is empty for an action on a key that no session holds.
	Session     string `json:"session"`
	CreateIndex uint64 `json:"create_index,omitempty"`
	Term        uint64 `json:"term,omitempty"`
	Leader      string `json:"leader,omitempty"`
	Node        string `json:"node,omitempty"`
	// Result is done, failed or unconfirmed. Detail is one line about the result.
	Result string `json:"result"`
	Detail string `json:"detail,omitempty"`
}

// Valid reports whether an action from another process names what it did, where, and with which result.
func (a *Action) Valid() bool {
	result := a.Result == ResultDone || a.Result == ResultFailed || a.Result == ResultUnconfirmed
	return result && a.CreateIndex|a.Term < 1<<63 && (a.Kind == election.ActionRelease || a.Kind == election.ActionDestroy) && a.Session != "" && a.By != "" && a.Datacenter != ""
}
