package cli

import (
	"context"
	"errors"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/internal/source"
)

// datacenter is one datacenter of Consul. It implements [source.Source] for the dashboard.
type datacenter struct {
	lookup
	*observe.Observer
	writer
}

var _ source.Source = (*datacenter)(nil)

// observe creates the observer and the operator, which acts and records.
func (c *datacenter) observe(all *observers, ps election.Patterns) {
	c.Observer = all.add(c.client, c.recorder, observe.Options{Patterns: ps})
	c.Operator = consulx.NewOperator(c.client, func(a election.OperatorAction) {
		if c.recorder != nil {
			a.By = c.recorder.by
		}
		c.Note(a)
	})
}

// Datacenter returns the configured name of the datacenter, or "" for the agent's own datacenter.
func (c *datacenter) Datacenter() string { return c.client.Datacenter() }

// current returns the lookup with the patterns that the user selected last.
func (c *datacenter) current() lookup {
	l := c.lookup
	l.patterns = c.Patterns()
	return l
}

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
