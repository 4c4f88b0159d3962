// Package plan defines the plan and the progress of a drain.
package plan

import (
	"context"
	"slices"
	"time"

	"electop/election"
	"electop/election/insight"
)

// Planner plans the drain of a node in a datacenter. It must not run on the event loop. Until it returns, any
// goroutine may call progress with the number of keys that were read.
type Planner func(ctx context.Context, datacenter, node string, progress func(done, total int)) (Plan, error)

// Plan lists the elections of a drain, sorted by key. All strings except those in the targets are safe to print.
type Plan struct {
	Node  string
	Items []Item
	// Course describes how the drain moves each election. LastResort describes when the drain destroys a session
	// if Choice allows this. Gaps contains the reasons why the plan may lack keys.
	Course, LastResort string
	Gaps               []string
	// Choice contains the user's choices.
	Choice Choice
	// Start begins the drain. It runs on the event loop and must not block.
	Start func(Choice) Drain
}

// Choice contains the options of a plan that the user can change.
type Choice struct {
	// Exclude contains the keys of the elections that the drain skips.
	Exclude map[string]bool
	// Destroy allows the drain to destroy the session of a leader that stays on the node.
	Destroy bool
}

// Excluded is the value of [Item.Skip] for an election that the user excluded.
const Excluded = "excluded in the plan"

// With returns a copy of the plan with this choice.
func (p Plan) With(c Choice) Plan {
	p.Choice, p.Items = c, slices.Clone(p.Items)
	for i := range p.Items {
		if item := &p.Items[i]; item.Skip == "" && c.Exclude[item.Target.Key] {
			item.Skip = Excluded
		}
	}
	return p
}

// Item is one election of a plan.
type Item struct {
	Target election.Target
	// Name is the election's name. Watched reports whether a pattern matches its key.
	Name    string
	Watched bool
	// Next describes the candidates on other nodes in one line. Likely reports whether at least one
	// of them is likely (see [insight.Likely]).
	Next   string
	Likely bool
	// Effect is the effect of a release. Last is the effect of the destroy that may follow the last release.
	Effect, Last insight.Effect
	// Skip is the reason why the drain skips the election. It is empty if the drain does not skip the election.
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
	// Next waits for changes since the last call and returns them. more is false at the end of the drain.
	Next() (changes []Step, more bool)
	// Warning returns the reason why the results are uncertain, as one line that is safe to print. It is empty if they
	// are certain. Call it only after the last change.
	Warning() string
	// Stop ends the drain after the writes in progress. It does not block.
	Stop()
}

// Status is the state of one election of a drain.
type Status string

// The states of an election in a drain. All except Waiting and Moving are final.
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

// Final reports whether the status is final. A final status changes only if the leader changes.
func (s Status) Final() bool { return s != Waiting && s != Moving }

// Step is the progress of one election of a drain. Text describes it in one line that is safe to print.
type Step struct {
	Key    string
	Status Status
	Text   string
	// Elsewhere reports whether a session on another node leads.
	Elsewhere bool
	// Since is the time when the state in Text began. It is zero if the age of this state is not displayed.
	Since time.Time
}
