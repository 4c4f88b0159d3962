package cli

import (
	"cmp"
	"context"
	"fmt"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/sanitize"
	"electop/internal/feed"
)

// consul is the store of a datacenter of Consul.
type consul struct{ *consulx.Client }

func (c consul) Consistently() store { return consul{c.Client.Consistently()} }

func (consul) Patterns(texts []string) (election.Patterns, error) {
	return election.ParsePatterns(texts)
}

func (c consul) Observer(o feed.Options) observer { return observe.New(c.Client, o) }

func (c consul) Operator(note func(election.OperatorAction)) operator {
	return consulx.NewOperator(c.Client, note)
}

func (c consul) Once(ctx context.Context, ps election.Patterns, past election.HistoryRead) (*election.Snapshot, error) {
	return observe.Once(ctx, c.Client, ps, past)
}

func (c consul) Session(ctx context.Context, id string) (*election.Session, error) {
	if !consulx.IsSessionID(id) {
		return nil, usagef("--session %q: must be the ID of a session, which is a UUID", clean(id))
	}
	found, hidden, err := c.SessionsByID(ctx, []string{id})
	switch {
	case len(found) > 0:
		return found[0], nil
	case hidden:
		return nil, election.ErrDenied
	}
	return nil, cmp.Or(err, fmt.Errorf("%w: %s", election.ErrNoSession, sanitize.Line(id, 40)))
}
