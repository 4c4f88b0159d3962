package consulx

import (
	"time"

	"golang.org/x/sync/semaphore"

	"electop/election"
	"electop/election/sanitize"
)

// Operator releases keys and destroys sessions, so that their leaders step down.
type Operator struct {
	client *Client
	store  *Client // the client for searches of the whole store
	note   func(election.OperatorAction)
	turn   *semaphore.Weighted // a mutex whose waiters have a timeout; it guards latest
	latest *foundKeys          // the latest search of the whole store
}

// NewOperator returns an operator. note, if not nil, receives every action twice: before it starts and when it has
// ended. See observe.Observer.Note.
func NewOperator(c *Client, note func(election.OperatorAction)) *Operator {
	if note == nil {
		note = func(election.OperatorAction) {}
	}
	return &Operator{client: c.urgent, store: c.Consistently(), note: note, turn: semaphore.NewWeighted(1)}
}

// elsewhere returns an error if a target is not in the client's datacenter.
func (op *Operator) elsewhere(t election.Target) error {
	if own := op.client.datacenter; own != "" && t.Datacenter != "" && t.Datacenter != own {
		return Fail(ErrRefused, "the target is in datacenter %s, but this connection is to %s; nothing was written",
			sanitize.Line(t.Datacenter, 60), sanitize.Line(own, 60))
	}
	return nil
}

// act runs an action. It calls note before and after the action.
func (op *Operator) act(a election.OperatorAction, do func() error) error {
	a.At, a.Stage = time.Now(), election.ActionStarted
	op.note(a)
	err := do()
	a.At, a.Stage = time.Now(), election.ActionDone
	if err != nil {
		a.Stage = election.ActionFailed
	}
	op.note(a)
	return err
}

// addressable returns an error for a key that is not UTF-8.
func addressable(key string) error {
	if election.Addressable(key) {
		return nil
	}
	return Fail(ErrRefused, "%s is not UTF-8: Consul replaces its invalid bytes, so the key cannot be addressed and other keys may look the same; "+
		"nothing was written", sanitize.Line(key, 100))
}
