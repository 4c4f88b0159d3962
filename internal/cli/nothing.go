package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"electop/consulx"
	"electop/election"
	"electop/election/sanitize"
)

// missingError says that no election has a name.
type missingError struct{ name, text string }

func (e *missingError) Error() string { return e.text }

func (e *missingError) Unwrap() error { return errNoElection }

// lookup is where a command looks for elections, to explain why it found none.
type lookup struct {
	d        deps
	client   *consulx.Client
	patterns election.Patterns
	snapshot *election.Snapshot
}

// choose gives the elections with these names, all if there are none.
func (l lookup) choose(ctx context.Context, names []string) ([]*election.Election, error) {
	chosen, err := choose(l.snapshot, names)
	if err != nil {
		return nil, l.explain(ctx, err)
	}
	if len(names) == 0 {
		l.note(ctx)
	}
	return chosen, nil
}

// note says why elections are missing or may be.
func (l lookup) note(ctx context.Context) {
	if len(l.snapshot.Elections) == 0 {
		l.explainNone(ctx)
		return
	}
	warnFiltered(l.d, l.snapshot)
}

// resolve finds the one election with this name.
func (l lookup) resolve(ctx context.Context, name string) (*election.Election, error) {
	e, err := resolve(l.snapshot, name)
	if err != nil {
		return nil, l.explain(ctx, err)
	}
	return e, nil
}

// explain distinguishes an election that the token may not read from one that does
// not exist.
func (l lookup) explain(ctx context.Context, err error) error {
	var missing *missingError
	if !errors.As(err, &missing) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if key, ok := l.patterns.Key(missing.name); ok {
		// Where this cannot be read, the snapshot's own hint has to do.
		if hidden, readErr := consulx.Hidden(ctx, l.client, key); readErr == nil && hidden {
			return fmt.Errorf("%w: this token may not read %s; see electop doctor", consulx.ErrDenied, sanitize.Line(key, 200))
		}
	}
	if len(l.snapshot.Elections) == 0 {
		l.explainNone(ctx)
	}
	return err
}

// explainNone says why no election was found, and which nearby keys hold a lock.
func (l lookup) explainNone(ctx context.Context) {
	found, err := consulx.FindNearby(ctx, l.client, l.patterns)
	if ctx.Err() != nil {
		return
	}
	say := func(format string, args ...any) {
		fmt.Fprintln(l.d.stderr, "electop: "+sanitize.Line(fmt.Sprintf(format, args...), 1000))
	}
	hidden := found.Hidden || l.snapshot.Filtered
	what := strings.Join(l.patterns.Strings(), ", ")
	whose := "this token"
	if found.Anonymous {
		whose = "the anonymous token (no token was given)"
	}
	switch {
	case hidden && !found.Readable && err == nil:
		say("%s may not read any key: elections may be missing; missing ACL rule for %s: %s", whose, what, found.Rule)
	case hidden:
		say("no readable key matches %s; %s may not read all keys: elections may be missing", what, whose)
	case !found.Readable && found.Complete:
		say("no key matches %s: the KV store has no keys", what)
	default:
		say("no key matches %s", what)
	}
	if len(found.Locked) > 0 {
		say("keys with a lock nearby: %s; select keys with -k PATTERN", strings.Join(found.Locked, ", "))
	} else if found.Complete && found.Readable {
		say("no other readable key holds a lock")
	}
}
