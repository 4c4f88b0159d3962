package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/election/sanitize"
)

// lookTimeout bounds a one-shot look at Consul.
const lookTimeout = 30 * time.Second

// look reads all elections once.
func look(ctx context.Context, client *consulx.Client, ps election.Patterns) (*election.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	return consulx.Look(ctx, client, ps)
}

// resolve finds the one election that name means: an election's name or its
// full key, with or without a leading "/".
func resolve(s *election.Snapshot, name string) (*election.Election, error) {
	if strings.TrimPrefix(name, "/") == "" {
		return nil, usagef("NAME is empty")
	}
	found := s.Named(name)
	if len(found) == 0 {
		found = s.Named(strings.TrimPrefix(name, "/"))
	}
	switch len(found) {
	case 0:
		return nil, notFound(s, name)
	case 1:
		return found[0], nil
	}
	keys := make([]string, len(found))
	for i, e := range found {
		keys[i] = sanitize.Line(e.Key(), 200)
	}
	return nil, usagef("%q is ambiguous, give one of the keys: %s", sanitize.Line(name, 100), strings.Join(keys, ", "))
}

func notFound(s *election.Snapshot, name string) error {
	hint := ""
	if s.Filtered {
		hint = " (keys may be hidden: this token may not read all of them)"
	}
	return &missingError{name: name, text: errNoElection.Error() + ": " + sanitize.Line(name, 100) + hint}
}

// warnFiltered says that elections may be missing.
func warnFiltered(d deps, s *election.Snapshot) {
	if s.Filtered {
		fmt.Fprintln(d.stderr, "electop: this token may not read all keys: elections may be missing")
	}
}

// choose gives the elections with the names that were given, all if none was.
func choose(s *election.Snapshot, names []string) ([]*election.Election, error) {
	if len(names) == 0 {
		return s.Elections, nil
	}
	chosen := make([]*election.Election, 0, len(names))
	for _, name := range names {
		e, err := resolve(s, name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, e)
	}
	return chosen, nil
}

// completeNames offers the names of elections to a shell.
func completeNames(o *options) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		client, ps, err := o.prepare()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
		defer cancel()
		s, err := consulx.Look(ctx, client, ps)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, e := range s.Elections {
			if strings.HasPrefix(e.Name, prefix) && sanitize.Text(e.Name) == e.Name {
				names = append(names, e.Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
