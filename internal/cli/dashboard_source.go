package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/internal/source"
	"electop/ui"
)

// datacenter is one datacenter of Consul. It implements [source.Source] for the dashboard.
type datacenter struct {
	lookup
	observer *observe.Observer
	writer
}

var _ source.Source = (*datacenter)(nil)

// observe creates the observer and the operator, which acts and records.
func (c *datacenter) observe(all *observers, ps election.Patterns) {
	c.observer = all.add(c.client, c.recorder, observe.Options{Patterns: ps})
	c.Operator = consulx.NewOperator(c.client, func(a election.OperatorAction) {
		if c.recorder != nil {
			a.By = c.recorder.by
		}
		c.observer.Note(a)
	})
}

// Datacenter returns the configured name of the datacenter, or "" for the agent's own datacenter.
func (c *datacenter) Datacenter() string { return c.client.Datacenter() }

// Snapshots implements [source.Source].
func (c *datacenter) Snapshots() <-chan *election.Snapshot { return c.observer.Snapshots() }

// WatchChecks implements [source.Source].
func (c *datacenter) WatchChecks(nodes []string) { c.observer.WatchChecks(nodes) }

// Study implements [source.Source].
func (c *datacenter) Study(key string) { c.observer.Study(key) }

// WatchSessions implements [source.Source].
func (c *datacenter) WatchSessions(on bool) { c.observer.WatchSessions(on) }

// SetPatterns implements [source.Source].
func (c *datacenter) SetPatterns(ps election.Patterns) { c.observer.SetPatterns(ps) }

// Survey implements [source.Source].
func (c *datacenter) Survey(ctx context.Context, keys []string) []election.Surroundings {
	return consulx.Surveys(ctx, c.client.Consistently(), keys)
}

// Holdings implements [source.Source].
func (c *datacenter) Holdings(ctx context.Context, sessions []string, progress func(done, total int)) ([]election.Pair, bool, error) {
	keys, err := consulx.Holdings(ctx, c.client.Consistently(), sessions, progress)
	if errors.Is(err, consulx.ErrIncomplete) {
		return keys, false, nil
	}
	return keys, err == nil, err
}

// discover searches for locks and compares them with the watched patterns.
func (c *datacenter) discover(ctx context.Context, progress func(done, total int)) (ui.DiscoveredLocks, error) {
	found, err := discoverLocks(ctx, c.client, "", c.observer.Patterns(), progress)
	problem := found.SessionsErr
	if found.Incomplete {
		problem = "This token cannot read all keys: locks may be missing. See electop doctor."
	}
	return ui.DiscoveredLocks{FoundLocks: found.FoundLocks, Scanned: found.Scanned, Problem: problem}, err
}

const (
	nearbyKeys = 5000 // maximum number of keys that nearby reads
	nearbyTime = 3 * time.Second
)

// nearby counts the locks that no pattern selects or excludes. It does not count the keys of Patroni's members. It
// ignores errors, because the result is only a hint.
func (c *datacenter) nearby(ctx context.Context) (locks int, complete bool) {
	ctx, cancel := context.WithTimeout(ctx, nearbyTime)
	defer cancel()
	patterns := c.observer.Patterns()
	keys, err := c.client.ListKeys(ctx, "")
	keys = slices.DeleteFunc(keys, func(key string) bool {
		folder, member := strings.CutSuffix(election.Parent(key), "members/")
		_, team := patterns.Match(folder + "leader")
		_, watched := patterns.Match(key)
		return watched || member && team || patterns.Exclude(key)
	})
	found := map[string]bool{}
	_, scanErr := consulx.Scan(ctx, c.client, keys[:min(len(keys), nearbyKeys)], nil, func(p election.Pair) {
		switch {
		case p.Held() && p.Flags == election.SemaphoreFlag:
			found[election.Parent(p.Key)] = true // each holder of a semaphore has its own key
		case p.Held():
			found[p.Key] = true
		}
	})
	return len(found), err == nil && scanErr == nil && len(keys) <= nearbyKeys
}
