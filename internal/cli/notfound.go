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

// missingError reports that no election has the name.
type missingError struct{ name, text string }

func (e *missingError) Error() string { return e.text }

func (e *missingError) Unwrap() error { return errNoElection }

// notFound returns the error for a name that no election has.
func notFound(s *election.Snapshot, name string) error {
	hint := ""
	if s.Filtered {
		hint = " (keys may be hidden: this token cannot read all of them)"
	}
	return &missingError{name: name, text: errNoElection.Error() + ": " + sanitize.Line(name, 100) + hint}
}

// warnMissing warns that there are no elections, or that some may be missing.
func (l lookup) warnMissing(ctx context.Context) {
	switch {
	case len(l.snapshot.Elections) == 0:
		l.explainEmpty(ctx)
	case l.snapshot.Filtered:
		l.warn("this token cannot read all keys: elections may be missing")
	}
}

// warnSilent warns if Consul may hide keys without reporting it. hidden is set if the snapshot may lack elections.
func (l lookup) warnSilent(ctx context.Context) (hidden bool, err error) {
	if l.snapshot.Filtered { // another warning has already reported the hidden keys
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	hidden, err = l.client.OmitsSilently(ctx)
	if hidden {
		l.warn("without a token, Consul does not report hidden keys: elections may be missing")
	}
	return hidden, err
}

// unverified returns the result of a command that selected elections by their state, and succeeded with all that the
// token can read. Other elections may have the same state.
func (d deps) unverified() error {
	d.warn("not verified: elections that this token cannot read may be missing")
	return exitError(exitDenied)
}

// explainError distinguishes an election that the token cannot read from one that
// does not exist.
func (l lookup) explainError(ctx context.Context, err error) error {
	var missing *missingError
	if !errors.As(err, &missing) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if key, ok := l.patterns.Key(missing.name); ok {
		// If this read fails, err still contains the hint from the snapshot.
		if hidden, readErr := consulx.Hidden(ctx, l.client, key); readErr == nil && hidden {
			return fmt.Errorf("%w: this token cannot read %s; see electop doctor", consulx.ErrDenied, sanitize.Line(key, 200))
		}
	}
	if hint := l.unselected(ctx, strings.TrimPrefix(missing.name, "/")); hint != "" {
		return fmt.Errorf("%w: %s", err, hint)
	}
	if len(l.snapshot.Elections) == 0 {
		l.explainEmpty(ctx)
	}
	return err
}

// unselected explains how to select a key that no pattern matches. It returns "" if the key does not exist or if the
// token cannot read it.
func (l lookup) unselected(ctx context.Context, key string) string {
	pair, err := l.client.ReadKey(ctx, key)
	switch {
	case err != nil || pair == nil:
		return ""
	case l.patterns.Exclude(key):
		return "the key exists, but a pattern excludes it"
	}
	return "the key exists, but no pattern selects it; use " + shellWords([]string{"-k", sanitize.Line(key, 200)})
}

// explainEmpty explains why no election was found, and lists nearby keys with a lock.
func (l lookup) explainEmpty(ctx context.Context) {
	found, err := consulx.FindNearby(ctx, l.client, l.patterns, nil)
	if ctx.Err() != nil {
		return
	}
	hidden := found.Hidden || l.snapshot.Filtered
	what := strings.Join(l.patterns.Strings(), ", ")
	whose := "this token"
	if found.Anonymous {
		whose = "the anonymous token (no token was given)"
	}
	switch {
	case hidden && !found.Readable && err == nil:
		l.warn("%s cannot read any key: elections may be missing; missing ACL rule for %s: %s", whose, what, found.Rule)
	case hidden:
		l.warn("no readable key matches %s; %s cannot read all keys: elections may be missing", what, whose)
	case !found.Readable && found.Complete:
		l.warn("no key matches %s: the KV store has no keys", what)
	default:
		l.warn("no key matches %s", what)
	}
	if len(found.Locked) > 0 {
		l.warn("nearby keys with a lock: %s; select keys with -k PATTERN", strings.Join(found.Locked, ", "))
	} else if found.Complete && found.Readable {
		l.warn("no session holds any other readable key")
	}
}
