// Package plan defines the plan and the progress of a drain.
package plan

import (
	"context"
	"slices"
	"time"

	"electop/election"
	"electop/election/insight"
)

// Planner plans the drain of a node of a datacenter. It runs off the event loop. Until it returns, any goroutine may
// call progress with the number of keys that were read.
type Planner func(ctx context.Context, datacenter, node string, progress func(done, total int)) (Plan, error)

// Plan lists the elections of a drain, sorted by key. Its texts are safe to print.
type Plan struct {
	Node  string
	Items []Item
	// Course describes how each election is moved, and LastResort when a session is destroyed if Choice allows it. Gaps
	// are the reasons why the plan may lack keys.
	Course, LastResort string
	Gaps               []string
	// Choice is what the user chose.
	Choice Choice
	// Start begins the drain. It runs on the event loop and must not block.
	Start func(Choice) Drain
}

// Choice is what the user chooses in a plan.
type Choice struct {
	// Exclude contains the keys of the elections that the drain skips.
	Exclude map[string]bool
	// Destroy allows destroying the session of a leader that stays.
	Destroy bool
}

// Excluded is the reason for skipping an election that the user excluded.
const Excluded = "excluded in the plan"

// With returns the plan with a choice.
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
	// Next names the likely candidates on other nodes in one line. Likely reports whether there is one.
	Next   string
	Likely bool
	// Effect is the effect of a release, Last that of a destroy after the last release.
	Effect, Last insight.Effect
	// Skip is the reason why the drain skips the election, empty if it does not.
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
	// Next waits for elections that have changed since the last call. more is false at the end of the drain.
	Next() (changes []Step, more bool)
	// Warning is the reason why the results are uncertain, in one line that is safe to print; empty
	// if they are certain. It must not be called before the last change.
	Warning() string
	// Stop ends the drain after the writes in progress. It does not block.
	Stop()
}

// Status is the state of one election of a drain.
type Status string

// The states. Another state follows Waiting and Moving.
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

// Final reports whether the status changes only if the leader changes.
func (s Status) Final() bool { return s != Waiting && s != Moving }

// Step is the state of one election. Text is one line, safe to print.
type Step struct {
	Key    string
	Status Status
	Text   string
	// Elsewhere reports whether a session on another node leads.
	Elsewhere bool
	// Since is when the state in Text began, zero if its age is not displayed.
	Since time.Time
}
