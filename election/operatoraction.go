package election

import (
	"context"
	"time"
)

// Target is the hold that an operator selected. If this hold has ended, an action on it changes nothing.
type Target struct {
	Election string
	// Datacenter is empty if the name is unknown.
	Datacenter  string
	Key         string
	Session     string
	ModifyIndex uint64
	// CreateIndex and LockIndex identify the term, because the same session may hold the key again later.
	CreateIndex, LockIndex uint64
	Term                   uint64
	// Leader, Node, Behavior and LockDelay are for display. They are empty if the session was not read, except the behavior of a lease.
	Leader    string
	Node      string
	Behavior  string
	LockDelay time.Duration
	// Note is one line about the action, such as the drain of which it is a part, or what else its session loses.
	Note  string
	Store Store
}

// Target returns the current hold as the target of an operator's action.
func (e *Election) Target() Target {
	t := Target{
		Election: e.Name, Datacenter: e.Datacenter, Key: e.Key(), Session: e.Pair.Session, ModifyIndex: e.Pair.ModifyIndex,
		Leader: e.Leader, Term: e.Term, CreateIndex: e.Pair.CreateIndex, LockIndex: e.Pair.LockIndex, Store: e.Store,
	}
	if e.Store.Leases {
		t.Behavior = BehaviorDelete // of every lease
	}
	if e.Session != nil {
		t.Node, t.Behavior, t.LockDelay = e.Session.Node, e.Session.Behavior, e.Session.EnforcedLockDelay()
	}
	return t
}

// SameHold reports whether p shows the target's hold. A new value that the holder writes does not end the hold. If the
// target has no CreateIndex, SameHold compares only the key and the session.
func (t Target) SameHold(p Pair) bool {
	return p.Key == t.Key && p.Session == t.Session &&
		(t.CreateIndex == 0 || p.CreateIndex == t.CreateIndex && p.LockIndex == t.LockIndex)
}

// Destroy is a session to destroy, with what the user was shown about it. Consul destroys a session without conditions,
// so that everything in it is compared with Consul's state immediately before.
type Destroy struct {
	// Target names the session. If its Key is not empty, the session must hold this key.
	Target
	// Keys are all keys that the session was shown to hold at the time Shown.
	Keys  []string
	Shown time.Time
	// Incomplete is set if the user was told that the token cannot read all keys.
	Incomplete bool
	// Evidence, if not nil, reads the facts that justify the destroy again. Its error refuses the destroy.
	Evidence func(context.Context) error
}

// MissingRules contains the ACL rules that the token lacks for actions on one hold. It contains no rule for an action that
// is allowed, and is nil if the store does not report the permissions, for example because ACLs are off: electop then
// blocks no action.
type MissingRules map[ActionKind]string

// ID identifies the election of the target. It is empty if the target is a session without an election.
func (t Target) ID() ID { return newID(t.Datacenter, t.Key) }

// Target returns the session as a target without a hold.
func (s *Session) Target() Target {
	return Target{Datacenter: s.Datacenter, Session: s.ID, Node: s.Node, Behavior: s.Behavior, LockDelay: s.EnforcedLockDelay(), Store: s.Store}
}

// ActionKind is the kind of an operator's action on an election.
type ActionKind string

// The operator's actions.
const (
	ActionRelease ActionKind = "release"
	ActionDestroy ActionKind = "destroy"
	ActionDrain   ActionKind = "drain" // a series of releases that moves the leader off a node
)

// ActionStage is the progress of an operator's action.
type ActionStage int

// The stages of an action.
const (
	ActionStarted ActionStage = iota
	ActionDone
	ActionFailed // also if Consul did not confirm the write
)

// Explains reports whether an action of this kind can have ended a term. seen is the cause that an observer inferred
// without information about the action. guess is set if seen is a guess.
func (k ActionKind) Explains(seen Cause, guess bool) bool {
	released := k == ActionRelease && seen == Released
	destroyed := k == ActionDestroy && (seen == SessionDestroyed || seen == SessionExpiredOrDestroyed || seen == KeyDeleted)
	return guess || seen == Unknown || released || destroyed
}

// FixOf begins the detail of an action that ends the hold of a leader that had failed. The history's SQL contains it, too.
const FixOf = "fix of "

// DrainOf begins the detail of an action of a drain.
const DrainOf = "drain of "

// OperatorAction reports an action of this or another process on a hold. Key is empty for a destroy, which ends every
// hold of the session.
type OperatorAction struct {
	At      time.Time
	Kind    ActionKind
	Key     string
	Session string
	// CreateIndex and LockIndex identify the hold that a release is bound to (see [Target]). The action explains only
	// the end of this hold. 0 means unknown.
	CreateIndex, LockIndex uint64
	Stage                  ActionStage
	// By is the operator, as user@host, if it is known. An action of another process is read from a history, after its
	// effect was observed.
	By string
	// Detail is one line about the action, such as the drain of which it is a part.
	Detail string
}

// Run performs the action, and calls note, if not nil, before and after it with the times of now.
func (a OperatorAction) Run(now func() time.Time, note func(OperatorAction), do func() error) error {
	if note == nil {
		note = func(OperatorAction) {}
	}
	a.At, a.Stage = now(), ActionStarted
	note(a)
	err := do()
	a.At, a.Stage = now(), ActionDone
	if err != nil {
		a.Stage = ActionFailed
	}
	note(a)
	return err
}
