// Package watch contains the watchers that bench runs as separate processes, and the format of the lines in which
// these and `electop watch` report changes.
package watch

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
)

// Roles of a bench process: the first argument with which bench starts itself as a watcher or as the handler of
// `consul watch`.
const (
	Recurse  = "as-recurse"
	PerKey   = "as-perkey"
	Observer = "as-observer"
	Handler  = "as-handler"
	Empty    = "as-empty-screen"
)

// KeyPrefix is the prefix of the keys of all elections.
const KeyPrefix = "service/"

// KeyName returns the key of election i, counted from 0.
func KeyName(i int) string { return fmt.Sprintf("%ssvc-%06d/leader", KeyPrefix, i) }

// IsRole reports whether an argument is one of the roles.
func IsRole(arg string) bool {
	return slices.Contains([]string{Recurse, PerKey, Observer, Handler, Empty}, arg)
}

// Run runs a role with its arguments until ctx ends. The role Handler returns when it has printed the changes.
func Run(ctx context.Context, role string, args []string, in io.Reader, out io.Writer) error {
	if role == Handler {
		return handle(in, out, args)
	}
	if role == Empty {
		return emptyScreen(ctx)
	}
	f := flag.NewFlagSet(role, flag.ContinueOnError)
	addr := f.String("addr", "", "address of Consul")
	n := f.Int("n", 0, "number of elections")
	plain := f.Bool("no-gzip", false, "request uncompressed responses")
	profile := f.String("profile", "", "folder for profiles")
	if err := f.Parse(args); err != nil {
		return err
	}
	switch role {
	case Recurse:
		return recurse(ctx, *addr, *plain, out)
	case PerKey:
		return perKey(ctx, *addr, *n, out)
	}
	return observe(ctx, *addr, *profile, in, out)
}
