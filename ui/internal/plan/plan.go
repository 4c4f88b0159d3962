// Package plan is the vocabulary of a drain: what it would do, and how far it is.
package plan

import (
	"context"
	"time"

	"electop/election"
	"electop/election/insight"
)

// Planner reads what a drain of a node would do. It runs off the event loop. Any goroutine
// may call progress, with the keys that the search of the store has read, until it returns.
type Planner func(ctx context.Context, node string, progress func(done, total int)) (Plan, error)

// Plan is the elections of a drain, by key. Its texts are safe to print.
type Plan struct {
	Node  string
	Items []Item
	// Course says what happens to each election, Gaps why the plan may lack keys.
	Course string
	Gaps   []string
	// Start begins the drain. It runs on the event loop and must not block.
	Start func() Drain
}

// Item is one election of a plan.
type Item struct {
	Target election.Target
	// Name is the election's name. Watched reports whether a pattern matches its key.
	Name    string
	Watched bool
	// Next names the likely candidates on other nodes in one line.
	Next   string
	Effect insight.Effect
	// Skip is why the drain does not act, empty if it does.
	Skip string
}

// Planned returns the items on which the drain acts.
func (p Plan) Planned() []Item {
	var all []Item
	for _, i := range p.Items {
		if i.Skip == "" {
			all = append(all, i)
		}
	}
	return all
}

// Drain is a drain in progress.
type Drain interface {
	// Next waits for elections that have changed since the last call. more is false after
	// the last change.
	Next() (changes []Step, more bool)
	// Warning is why the results are uncertain, in one line that is safe to print; empty if
	// they are not. It must not be called before the last change.
	Warning() string
	// Stop ends the drain after the writes in progress. It does not block.
	Stop()
}

// Status is the state of one election of a drain.
type Status string

// The states. Waiting and Moving are followed by another one.
const (
	Waiting     Status = "waiting"
	Moving      Status = "moving"
	Moved       Status = "moved"
	Stayed      Status = "stayed"
	Vacant      Status = "vacant"
	Failed      Status = "failed"
	Skipped     Status = "skipped"
	Interrupted Status = "interrupted"
)

// Final reports whether the drain does nothing more unless the leader changes.
func (s Status) Final() bool { return s != Waiting && s != Moving }

// Step is the state of one election. Text is one line, safe to print.
type Step struct {
	Key    string
	Status Status
	Text   string
	// Since is when the state that Text describes began, zero if its age does not matter.
	Since time.Time
}
